// Say where the focus is and whether it can be seen; afterwards, what it never came to.
var advisorSeen = new Set();
var advisorName = e => `${e.tagName.toLowerCase()} ${e.id && '#' + e.id} ${(e.getAttribute('aria-label') || e.textContent).trim().slice(0, 40)}`;
var advisorFocus = () => {
  const e = document.activeElement;
  if (!e || e === document.body || advisorSeen.has(e)) return null;
  advisorSeen.add(e);
  const drawn = x => { const s = x && getComputedStyle(x); return s && (s.outlineStyle !== 'none' && parseFloat(s.outlineWidth) > 0 && +s.opacity > 0 || x.matches('.ring') && s.stroke !== 'none'); };
  const b = e.getBoundingClientRect();
  const seen = [e, e.querySelector('.ring'), e.nextElementSibling].some(drawn) && (b.width > 0 || e.matches('.tab'));
  return {what: advisorName(e), hidden: !seen};
};
var advisorMissed = () => [...document.querySelectorAll('a[href],button,input,select,summary,[tabindex="0"]')]
  .filter(e => !advisorSeen.has(e) && e.checkVisibility({visibilityProperty: true, opacityProperty: false}) && !e.disabled && e.tabIndex >= 0)
  .filter(e => e.type !== 'radio' || e.checked)
  .map(advisorName).slice(0, 10);
0
