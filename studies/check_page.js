// Return what is wrong with the charts of a report, and how much was looked at.
(() => {
  const problems = [], all = (s, r = document) => [...r.querySelectorAll(s)];
  if (document.documentElement.scrollWidth > innerWidth)
    problems.push(`scrolls sideways: ${document.documentElement.scrollWidth} > ${innerWidth}`);
  const corners = t => { const b = t.getBBox(), m = t.getScreenCTM();
    return [[0, 0], [1, 0], [1, 1], [0, 1]].map(([i, j]) =>
      new DOMPoint(b.x + (i ? b.width - 1 : 1), b.y + (j ? b.height - 2 : 2)).matrixTransform(m)); };
  const apart = (p, q) => [p, q].some(r => r.some((a, i) => {
    const b = r[(i + 1) % 4], nx = b.y - a.y, ny = a.x - b.x, on = s => s.map(c => c.x * nx + c.y * ny);
    return Math.max(...on(p)) <= Math.min(...on(q)) || Math.max(...on(q)) <= Math.min(...on(p)); }));
  let texts = 0, marks = 0, roofs = 0;
  for (const svg of all('.plot svg')) {
    if (!svg.getBoundingClientRect().width) continue;
    const frame = svg.querySelector('.fr').getBBox(), view = svg.viewBox.baseVal;
    const words = all('text', svg).filter(t => t.textContent.trim() && t.getBoundingClientRect().width);
    const boxes = words.map(corners);
    texts += words.length;
    words.forEach((w, i) => {
      for (let j = i + 1; j < words.length; j++) if (!apart(boxes[i], boxes[j]))
        problems.push(`words overlap: "${w.textContent}" and "${words[j].textContent}"`);
      const area = svg.getBoundingClientRect();
      if (boxes[i].some(c => c.x < area.left - 1 || c.x > area.right + 1 || c.y < area.top - 1 || c.y > area.bottom + 1))
        problems.push(`word outside the picture: "${w.textContent}"`);
    });
    for (const mark of all('.pt', svg).filter(e => e.getBoundingClientRect().width)) {
      marks++;
      const b = mark.querySelector('.d').getBBox(), m = mark.transform.baseVal.consolidate().matrix;
      if (b.x + m.e < frame.x || b.x + b.width + m.e > frame.x + frame.width || b.y + m.f < frame.y || b.y + b.height + m.f > frame.y + frame.height)
        problems.push(`mark outside the frame: ${mark.getAttribute('aria-label')}`);
    }
    for (const line of all('.ln', svg)) {
      roofs++;
      const inside = n => { const p = line.getPointAtLength(n); return p.x >= frame.x - 1 && p.x <= frame.x + frame.width + 1 && p.y >= frame.y - 1 && p.y <= frame.y + frame.height + 1; };
      const length = line.getTotalLength(), steps = 4000;
      let seen = false;
      for (let i = 0; i <= steps && !seen; i++) seen = inside(length * i / steps);
      if (!seen) problems.push(`roof outside the frame: ${line.getAttribute('class')} ${line.getAttribute('d')}`);
    }
    for (const label of all('.rl', svg)) {
      const y = label.transform.baseVal.consolidate().matrix.f;
      if (y < frame.y - 16 || y > frame.y + frame.height + 16) problems.push(`roof label off: ${label.textContent}`);
    }
  }
  return {problems, texts, marks, roofs};
})()
