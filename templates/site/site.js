{% include "report.js" %}
// search: "/" goes to the field, arrows choose, Enter opens
(() => {
const box = document.querySelector('.finder'), field = document.getElementById('find'), list = document.getElementById('found');
if (!box || typeof advisorKernels === 'undefined') return;
let chosen = -1;
box.hidden = false;
const items = () => [...list.children];
const choose = n => {
  chosen = n;
  items().forEach((e, i) => e.setAttribute('aria-selected', i === n));
  n < 0 ? field.removeAttribute('aria-activedescendant') : field.setAttribute('aria-activedescendant', 'found-' + n);
  if (n >= 0) items()[n].scrollIntoView({block: 'nearest'});
};
const look = () => {
  const words = field.value.toLowerCase().split(/\s+/).filter(Boolean), rank = k => k[0].toLowerCase().indexOf(words[0]) ? 1 : 0;
  const hits = words.length ? advisorKernels.filter(k => words.every(w => (k[0] + ' ' + k[2]).toLowerCase().includes(w))) : [];
  hits.sort((a, b) => rank(a) - rank(b));
  list.replaceChildren(...hits.slice(0, 12).map((k, i) => {
    const li = document.createElement('li'), a = document.createElement('a'), note = document.createElement('small');
    li.id = 'found-' + i; li.role = 'option'; a.href = box.dataset.root + k[1]; a.tabIndex = -1; a.textContent = k[0]; note.textContent = k[2];
    a.append(note); li.append(a); return li;
  }));
  list.hidden = !hits.length;
  field.ariaExpanded = String(!!hits.length);
  choose(hits.length ? 0 : -1);
};
field.oninput = field.onfocus = look;
field.onkeydown = e => {
  const n = list.children.length;
  if (e.key === 'ArrowDown' && n) choose((chosen + 1) % n);
  else if (e.key === 'ArrowUp' && n) choose((chosen + n - 1) % n);
  else if (e.key === 'Enter' && chosen >= 0) location.href = items()[chosen].firstChild.href;
  else if (e.key === 'Escape') { field.value = ''; look(); field.blur(); }
  else return;
  e.preventDefault();
};
box.addEventListener('focusout', e => { if (!box.contains(e.relatedTarget)) { list.hidden = true; field.ariaExpanded = 'false'; } });
addEventListener('keydown', e => {
  if (e.key === '/' && !e.ctrlKey && !e.metaKey && !e.altKey && !/^(INPUT|SELECT|TEXTAREA)$/.test(e.target.tagName)) { e.preventDefault(); field.focus(); field.select(); }
});
})();
