(() => {
const D = document, R = D.documentElement, all = (s, r = D) => [...r.querySelectorAll(s)], byId = i => D.getElementById(i);
const state = Object.fromEntries(location.hash.includes('=') ? new URLSearchParams(location.hash.slice(1)) : []);
const put = (k, v) => { v ? state[k] = v : delete state[k]; history.replaceState(0, '', '#' + new URLSearchParams(state)); };
R.classList.add('js');
// one kernel is marked everywhere: hover and focus preview it, click or Enter keeps it
let kept = state.k || R.dataset.k;
const ring = e => { if (e.closest('.pt') && !e.querySelector('.ring')) { const d = e.querySelector('.d'), c = D.createElementNS(d.namespaceURI, 'circle'), b = d.getBBox();
  c.setAttribute('class', 'ring'); c.setAttribute('r', Math.max(b.width, b.height) / 2 + 4); d.before(c); } };
const show = k => all('[data-k]').forEach(e => { if (e === R) return; e.classList.toggle('on', e.dataset.k === k); if (e.dataset.k === k && e.getClientRects().length) ring(e); });
all('.pt').forEach(e => { e.setAttribute('tabindex', 0); e.setAttribute('role', 'button'); });
const kernel = e => { const m = e.target.closest('[data-k]'); return m && m !== R ? m.dataset.k : 0; };
for (const z of all('.plot,.kt tbody,.where')) {
  const look = e => kernel(e) && show(kernel(e)), back = () => show(kept);
  z.onpointerover = look; z.onpointerleave = back; z.addEventListener('focusin', look); z.addEventListener('focusout', back);
  z.onclick = z.onkeydown = e => {
    const k = kernel(e);
    if (!k || e.key && e.key !== 'Enter' && e.key !== ' ' || e.target.closest('a')) return;
    e.preventDefault(); show(kept = k); put('k', k);
  };
}
// a link to a kernel opens its entry
const open = () => { const e = /^#(kernel-|n\d)/.test(location.hash) && byId(location.hash.slice(1)), d = e && e.closest('details'); if (d) { d.open = true; e.scrollIntoView(); } };
addEventListener('hashchange', open); open();
// theme
const button = byId('theme'), dark = () => R.dataset.theme ? R.dataset.theme === 'dark' : matchMedia('(prefers-color-scheme:dark)').matches;
const theme = v => { if (/^(dark|light)$/.test(v)) R.dataset.theme = v; button.textContent = dark() ? 'Light' : 'Dark'; };
theme(state.theme); button.hidden = false; button.onclick = () => { theme(dark() ? 'light' : 'dark'); put('theme', R.dataset.theme); };
// table: sort (unknown last), find, filter, the first fifty rows until asked for all
const table = byId('q') && D.querySelector('.kt');
if (table) {
  const body = table.tBodies[0], heads = all('th[data-c]', table), find = byId('q'), limiter = byId('ql'), more = byId('all');
  // what nobody sees yet is done once the first rows are drawn
  const FEW = 50; let rest, shown;
  const sort = (h, d) => {
    if (!h) return;
    heads.forEach(x => x.removeAttribute('aria-sort')); h.ariaSort = d > 0 ? 'ascending' : 'descending';
    const at = h.cellIndex, text = h.dataset.t, compare = new Intl.Collator().compare;
    const value = r => { const c = r.cells[at]; return c.dataset.v ?? c.firstElementChild.textContent; };
    const rows = [...body.rows].map(r => [value(r), r]).sort(([x], [y]) =>
      x === '' || y === '' ? (x === '') - (y === '') : d * (text ? compare(x, y) : x - y)).map(p => p[1]);
    clearTimeout(rest); body.prepend(...rows.slice(0, FEW)); rest = setTimeout(() => body.append(...rows.slice(FEW)));
    put('sort', (d > 0 ? '' : '-') + h.dataset.c);
  };
  heads.forEach(h => h.firstElementChild.onclick = () => sort(h, h.ariaSort === 'descending' ? 1 : -1));
  const filter = () => {
    let n = 0; const q = find.value.toLowerCase(), later = [];
    for (const r of body.rows) {
      const out = !r.dataset.n.toLowerCase().includes(q) || limiter.value && !r.classList.contains(limiter.value);
      if (!out && ++n > FEW) later.push(r);
      r.hidden = out || n > FEW;
    }
    clearTimeout(shown); shown = setTimeout(() => later.forEach(r => r.hidden = false));
    table.classList.toggle('all', !!(q || limiter.value || state.all)); if (more) more.hidden = !!state.all;
    byId('qn').textContent = n + ' of ' + body.rows.length + ' kernels'; put('q', find.value); put('l', limiter.value);
  };
  find.value = state.q || ''; limiter.value = state.l || ''; find.oninput = limiter.onchange = filter;
  if (more) more.onclick = () => { put('all', '1'); filter(); };
  if (state.q || state.l || state.all) filter();
  if (state.sort) sort(heads.find(h => h.dataset.c === state.sort.replace('-', '')), state.sort[0] === '-' ? -1 : 1);
}
// "/" goes to the search
addEventListener('keydown', e => { const q = byId('q'); if (e.key === '/' && q && !D.querySelector('.finder') && !e.ctrlKey && !e.metaKey && !e.altKey && !/^(INPUT|SELECT|TEXTAREA)$/.test(e.target.tagName)) { e.preventDefault(); q.focus(); q.select(); } });
// tabs of the roofline
all('.tab').forEach(t => { if (state[t.name] === t.id) t.checked = true; t.onchange = () => { put(t.name, t.id); show(kept); }; });
// roofline: what is drawn is read back as log10 data, zoom projects it again
for (const s of all('svg[data-v]')) {
  const N = a => a.split(',').map(Number), [L, T, w, h] = N(s.dataset.b), v0 = N(s.dataset.v), [ex, ey] = N(s.dataset.e); let v = v0;
  const X = x => L + (x - v[0]) / (v[1] - v[0]) * w, Y = y => T + h - (y - v[2]) / (v[3] - v[2]) * h;
  const back = (x, y) => [v0[0] + (x - L) / w * (v0[1] - v0[0]), v0[2] + (T + h - y) / h * (v0[3] - v0[2])];
  const lines = all('.ln,.area,.span,.drop,.way', s).map(e => [e, e.getAttribute('d').slice(1).split('L').map(p => back(...N(p)))]);
  const spots = all('g[transform]', s).filter(e => !e.closest('.rl')).map(e => { const m = e.transform.baseVal.getItem(0).matrix; return [e, ...back(m.e, m.f), [...e.style].filter(n => n.startsWith('--')).map(n => [n, back(m.e + parseFloat(e.style.getPropertyValue(n)), 0)[0]])]; });
  const at = e => { const r = s.getBoundingClientRect(), k = s.viewBox.baseVal.width / r.width; return [((e.clientX - r.left) * k - L) / w, 1 - ((e.clientY - r.top) * k - T) / h, k]; };
  const num = (z, f) => { const i = f ? Math.max(0, Math.min(5, Math.floor(z / 3 + 1e-9))) : 0; return +(10 ** (z - 3 * i)).toPrecision(2) + (f ? ' ' + ['', 'k', 'M', 'G', 'T', 'P'][i] + s.dataset.u : ''); };
  const draw = n => {
    v = n; let o = '', last = 1e9;
    for (const [e, p] of lines) e.setAttribute('d', 'M' + p.map(q => [X(q[0]), Y(q[1])]).join('L'));
    for (const [e, x, y, at] of spots) {
      const to = 'o' in e.dataset ? L + w - e.dataset.o : X(x);
      for (const [n, z] of at) e.style.setProperty(n, X(z) - to + 'px');
      e.setAttribute('transform', `translate(${to},${Y(y)})rotate(${'r' in e.dataset ? -Math.atan2(h / (v[3] - v[2]), w / (v[1] - v[0])) * 57.29578 : 0})`);
    }
    all('.rl', s).sort((a, b) => a.dataset.yy - b.dataset.yy).forEach(e => { const y = Y(+e.dataset.yy), p = Math.min(y, last - 15), ok = y >= T && y <= T + h; if (ok) last = p; e.setAttribute('transform', `translate(${L + w + ex},${p + ey})`); e.style.display = ok ? '' : 'none'; });
    for (const f of [0, 1]) { const a = v[2 * f], b = v[2 * f + 1];
      for (let d = Math.floor(a); d <= b; d++) for (let m = 1; m < 10; m++) { const z = d + Math.log10(m); if (z < a || z > b) continue;
        o += `<path class="gr${m > 1 ? ' mi' : ''}" d="M${f ? L + ',' + Y(z) + 'h' + w : X(z) + ',' + T + 'v' + h}"/>`;
        if (m === 1 || b - a < 1.6 && (m === 2 || m === 5)) o += `<text class="ax" text-anchor="${f ? 'end' : 'middle'}" x="${f ? L - 8 : X(z)}" y="${f ? Y(z) + 4 : T + h + 18}">${num(z, f)}</text>`; } }
    s.querySelector('.ticks').innerHTML = o;
  };
  const zoom = (k, x = .5, y = .5) => { const a = v[0] + x * (v[1] - v[0]), b = v[2] + y * (v[3] - v[2]), n = (v[1] - v[0]) * k; if (n < 16 && n > .3) draw([a + (v[0] - a) * k, a + (v[1] - a) * k, b + (v[2] - b) * k, b + (v[3] - b) * k]); };
  const pan = (x, y) => { const a = x * (v[1] - v[0]), b = y * (v[3] - v[2]); draw([v[0] + a, v[1] + a, v[2] + b, v[3] + b]); };
  s.addEventListener('wheel', e => { if (e.ctrlKey || e.metaKey) { e.preventDefault(); zoom(e.deltaY > 0 ? 1.15 : .87, ...at(e)); } }, {passive: false});
  s.onpointerdown = e => { if (e.pointerType === 'mouse' && !kernel(e)) { s.setPointerCapture(e.pointerId); s.onpointermove = m => { const k = at(m)[2]; pan(-m.movementX * k / w, m.movementY * k / h); }; } };
  s.onpointerup = s.onpointercancel = () => s.onpointermove = null;
  s.onkeydown = e => { const z = {'+': .8, '=': .8, '-': 1.25}[e.key], p = {ArrowLeft: [-.1, 0], ArrowRight: [.1, 0], ArrowUp: [0, .1], ArrowDown: [0, -.1]}[e.key]; if (z || p || e.key === '0') { e.preventDefault(); z ? zoom(z) : p ? pan(...p) : draw(v0); } };
  all('[data-z]').forEach(b => b.addEventListener('click', () => b.dataset.z === '0' ? draw(v0) : zoom(+b.dataset.z)));
}
show(kept);
})();
