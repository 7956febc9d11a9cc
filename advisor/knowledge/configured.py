"""What a configuration speaks of, beside what rules are changed by: is there such a thing?"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from advisor.configuration import Configuration
from advisor.configuration.entries import Budget, Suppression
from advisor.errors import ConfigError, Location
from advisor.expression import Kind
from advisor.facts import Vocabulary
from advisor.knowledge.parts import require_rule
from advisor.rules.language.rule import Rule
from advisor.suggest import did_you_mean
from advisor.units import parse_unit

_LIST = "advisor rules list names them"


def check_suppressed(configuration: Configuration, rules: Sequence[Rule]) -> None:
    """Refuse to suppress the findings of a rule that there is not.

    Raises:
        ConfigError: names the nearest.
    """
    known = {*configuration.disable, *(rule.id for rule in rules)}
    for each in configuration.suppress:
        if "*" in each.rule:
            _require_some(known, each)
        else:
            require_rule(known, each.rule, each.at)


def _require_some(known: Collection[str], suppression: Suppression) -> None:
    pattern = suppression.rule
    if not any(map(suppression.speaks_of, known)):
        families = {f"{rule.partition('/')[0]}/*" for rule in known}
        hint = did_you_mean(pattern, families, _LIST)
        raise ConfigError(f"no rule matches {pattern!r}", at=suppression.at, hint=hint)


def check_budgets(configuration: Configuration, vocabulary: Vocabulary) -> None:
    """Refuse budgets of what is no number of a kernel, or has another unit.

    Raises:
        ConfigError: names the nearest.
    """
    for budget in configuration.budgets:
        _check_budget(budget, vocabulary)


def _check_budget(budget: Budget, vocabulary: Vocabulary) -> None:
    symbol = vocabulary.symbols.get(budget.fact)
    if symbol is None:
        numbers = (n for n, each in vocabulary.symbols.items() if each.kind is Kind.NUMBER)
        hint = did_you_mean(budget.fact, numbers)
        raise ConfigError(f"there is no number called {budget.fact!r}", at=budget.at, hint=hint)
    if symbol.kind is not Kind.NUMBER:
        problem = f"{budget.fact!r} is {symbol.kind.value}, and a budget limits a number"
        raise ConfigError(problem, at=budget.at, hint="name a number, such as duration")
    if symbol.unit is not None and not symbol.unit.is_like(parse_unit(budget.unit)):
        problem = f"{budget.fact} is in {symbol.unit}, not in {budget.unit}"
        raise ConfigError(problem, at=budget.at)


def check_device_folder(configuration: Configuration) -> None:
    """Refuse a directory of the user's own devices that is not there.

    Raises:
        ConfigError: with the place that names it.
    """
    devices = configuration.devices
    if devices is not None and not devices.value.is_dir():
        problem = f"there is no directory {str(devices.value)!r}"
        hint = "paths are relative to the configuration file; advisor hardware add FILE makes it"
        raise ConfigError(problem, at=Location(name=devices.origin), hint=hint)
