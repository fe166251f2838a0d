// The items: votes beside predictions. Numbers lie in blocks of base64 that are unpacked when a data
// set is first shown; `explorer.rs` says how.

const PER_PAGE = 24;
const CLASSES = 12; // More than so many are not shown at once.
const STEPS = 250;
const ABSENT = 255;
const NO_PICTURE = 0xffffffff;

const collections = JSON.parse($('#collections').textContent || '[]');

function bytesOf(id) {
  const block = document.getElementById(id);
  return block ? Uint8Array.from(atob(block.textContent), (c) => c.charCodeAt(0)) : new Uint8Array();
}

/** A data set, unpacked. */
function unpack(at) {
  const about = collections[at];
  const { count, classes } = about;
  const k = classes.length;
  const raw = bytesOf(`votes-${at}`);
  const votes = about.counts ? raw : new Float32Array(raw.buffer);
  const items = {
    about, at, votes, k,
    ids: JSON.parse(document.getElementById(`ids-${at}`).textContent),
    texts: about.texts ? JSON.parse(document.getElementById(`texts-${at}`).textContent) : null,
    predictions: bytesOf(`predictions-${at}`),
    losses: new Float32Array(bytesOf(`losses-${at}`).buffer),
    places: new Uint32Array(bytesOf(`places-${at}`).buffer),
    entropies: new Float64Array(count),
    sums: new Float64Array(count),
    majority: [],
    lower: null,
    sheets: [],
  };
  for (let item = 0; item < count; item++) {
    const own = votes.subarray(item * k, item * k + k);
    const sum = own.reduce((a, b) => a + b, 0);
    let entropy = 0;
    for (const v of own) if (v > 0) entropy -= (v / sum) * Math.log(v / sum);
    items.sums[item] = sum;
    items.entropies[item] = sum > 0 ? entropy : NaN;
    const most = Math.max(...own);
    const best = [];
    if (sum > 0) own.forEach((v, c) => { if (v === most) best.push(c); });
    items.majority.push(best);
  }
  return items;
}

const unpacked = new Map();
function dataOf(at) {
  if (!unpacked.has(at)) unpacked.set(at, unpack(at));
  return unpacked.get(at);
}

const lossOf = (data, item, by) => data.losses[item * data.about.by.length + by];
const klOf = (data, item, by) => Math.max(0, lossOf(data, item, by) - data.entropies[item]);

/** The sheet that a picture stands in; decoded once. */
function sheetOf(data, number) {
  if (!data.sheets[number]) {
    const image = new Image();
    image.src = document.getElementById(`sheet-${data.at}-${number}`).textContent;
    data.sheets[number] = image.decode().then(() => image);
  }
  return data.sheets[number];
}

// --- What is shown ------------------------------------------------------------------------------

const controls = $('#controls');
const view = { dataset: 0, sort: 'entropy', arm: 0, than: 0, order: 'down', class: '', q: '', page: 0, shown: [] };

/** The items in their order, and what they are sorted by. */
function chosen(data) {
  const { sort, arm, than, order } = view;
  const all = [];
  const query = view.q.trim().toLowerCase();
  if (query && !data.lower) {
    data.lower = data.ids.map((id, item) => `${id}\n${data.texts?.[item] ?? ''}`.toLowerCase());
  }
  const wanted = view.class === '' ? null : Number(view.class);
  for (let item = 0; item < data.about.count; item++) {
    if (wanted !== null && !data.majority[item].includes(wanted)) continue;
    if (query && !data.lower[item].includes(query)) continue;
    all.push(item);
  }
  const sign = order === 'down' ? -1 : 1;
  if (sort === 'id') return all.sort((a, b) => sign * collator.compare(data.ids[a], data.ids[b]) || a - b);
  const key = new Float64Array(data.about.count);
  for (const item of all) key[item] = keyOf(data, item, sort, arm, than);
  return all.sort((a, b) => {
    const [x, y] = [key[a], key[b]];
    if (x !== x || y !== y) return (x !== x) - (y !== y) || a - b;
    return sign * ((x > y) - (x < y)) || a - b;
  });
}

function keyOf(data, item, sort, arm, than) {
  if (sort === 'kl') return klOf(data, item, arm);
  if (sort === 'gain') return lossOf(data, item, than) - lossOf(data, item, arm);
  return data.entropies[item];
}

const short = (value) => (Number.isFinite(value) ? value.toFixed(3).replace('-', '−') : value > 0 ? '∞' : value < 0 ? '−∞' : '–');

function bar(share, colour, top) {
  const cell = make('td');
  if (share === null) {
    cell.textContent = '–';
    return cell;
  }
  const fill = make('i');
  fill.style.setProperty('--colour', colour);
  fill.style.setProperty('--size', `${(100 * share).toFixed(1)}%`);
  cell.append(make('div', { className: 'bar' }, fill, make('b', { textContent: Math.round(100 * share) })));
  if (top) cell.className = 'top-class';
  return cell;
}

/** The predictions that are shown, without those of arms that the page hides. */
const shownNow = (about) => view.shown.filter((by) => !hiddenArms.has(told.arms[about.by[by].arm]?.[0]));

/** Votes and predictions as bars, a column each. */
function bars(data, item) {
  const { k, about } = data;
  const shown = shownNow(about);
  const columns = [{ title: 'Votes', colour: 'var(--figure-muted)', shares: [] }];
  for (let c = 0; c < k; c++) columns[0].shares.push(data.sums[item] > 0 ? data.votes[item * k + c] / data.sums[item] : null);
  for (const by of shown) {
    const from = (item * about.by.length + by) * k;
    const shares = [];
    for (let c = 0; c < k; c++) {
      const byte = data.predictions[from + c];
      shares.push(byte === ABSENT ? null : byte / STEPS);
    }
    columns.push({ title: about.by[by].title, colour: armColour(about.by[by].arm), shares, by });
  }
  let rows = [...about.classes.keys()];
  if (k > CLASSES) {
    const most = rows.map((c) => Math.max(...columns.map((column) => column.shares[c] ?? 0)));
    rows = rows.sort((a, b) => most[b] - most[a] || a - b).slice(0, CLASSES).sort((a, b) => a - b);
  }
  const head = make('tr', {}, make('td'));
  for (const { title, colour } of columns) {
    const cell = make('th', { scope: 'col' }, make('span', { textContent: title }));
    cell.dataset.tip = title;
    cell.style.borderBottom = `3px solid ${colour}`;
    head.append(cell);
  }
  const body = make('tbody');
  for (const c of rows) {
    const name = make('th', { scope: 'row', textContent: about.classes[c] });
    name.dataset.tip = about.classes[c];
    const row = make('tr', {}, name);
    for (const { shares, colour } of columns) {
      const share = shares[c];
      row.append(bar(share, colour, share !== null && share === Math.max(...shares)));
    }
    body.append(row);
  }
  const foot = make('tfoot');
  if (shown.length) {
    const row = make('tr', {}, make('th', { scope: 'row', textContent: 'KL' }), make('td'));
    for (const by of shown) row.append(make('td', { textContent: short(klOf(data, item, by)) }));
    foot.append(row);
  }
  const table = make('table', { className: 'bars' }, make('thead', {}, head), body, foot);
  if (rows.length < k) foot.append(make('tr', {}, make('td', { colSpan: columns.length + 1, textContent: `${k - rows.length} classes with less are not shown` })));
  return make('div', { className: 'wide' }, table);
}

function picture(data, item) {
  const place = data.places[item] ?? NO_PICTURE;
  const { sheets } = data.about;
  if (!sheets || place === NO_PICTURE) return null;
  const [width, height] = sheets.sizes[place] ?? [sheets.width, sheets.height];
  const canvas = make('canvas', { width, height });
  canvas.setAttribute('role', 'img');
  canvas.setAttribute('aria-label', `Image of ${data.ids[item]}`);
  const within = place % sheets.cells;
  const [x, y] = [within % sheets.columns, Math.floor(within / sheets.columns)];
  sheetOf(data, Math.floor(place / sheets.cells)).then((sheet) => {
    canvas.getContext('2d').drawImage(sheet, x * sheets.width, y * sheets.height, width, height, 0, 0, width, height);
  });
  return canvas;
}

function card(data, item) {
  const names = data.majority[item].map((c) => data.about.classes[c]).join(' = ') || 'none';
  const facts = [`majority: ${names}`, `entropy ${short(data.entropies[item])} nats`];
  if (data.about.counts) facts.push(`${data.sums[item]} vote${data.sums[item] === 1 ? '' : 's'}`);
  if (view.sort === 'gain') facts.push(`gain ${short(keyOf(data, item, 'gain', view.arm, view.than))} nats`);
  const link = make('a', { textContent: data.ids[item] });
  link.href = `#items?${new URLSearchParams({ dataset: data.about.name, q: data.ids[item] })}`;
  const words = make('div', {}, make('h3', {}, link), make('p', { className: 'facts', textContent: facts.join(' · ') }));
  const header = make('header');
  const image = picture(data, item);
  if (image) header.append(image);
  header.append(words);
  const whole = make('article', { className: 'item' }, header);
  whole.dataset.id = data.ids[item];
  const text = data.texts?.[item];
  if (text) whole.append(make('p', { className: 'text', textContent: text }));
  whole.append(bars(data, item));
  return whole;
}

let listed = [];
function draw(again = true) {
  const data = dataOf(view.dataset);
  if (again) listed = chosen(data);
  const pages = Math.max(1, Math.ceil(listed.length / PER_PAGE));
  view.page = Math.max(0, Math.min(view.page, pages - 1));
  const from = view.page * PER_PAGE;
  const now = listed.slice(from, from + PER_PAGE);
  const grid = $('#grid');
  const wide = shownNow(data.about).length + 1;
  grid.style.setProperty('--item-width', `${Math.max(20, 7 + 4.2 * wide)}rem`);
  grid.style.setProperty('--bars-width', `${5 + 4 * wide}rem`);
  grid.replaceChildren(...now.map((item) => card(data, item)));
  if (!now.length) grid.append(make('p', { className: 'note', textContent: 'No matching items.' }));
  const text = listed.length ? `${(from + 1).toLocaleString('en')}–${(from + now.length).toLocaleString('en')} of ${listed.length.toLocaleString('en')} items` : 'no items';
  for (const pager of $$('[data-pager]')) {
    $('[data-page]', pager).textContent = text;
    $('[data-go="-1"]', pager).disabled = view.page === 0;
    $('[data-go="1"]', pager).disabled = view.page >= pages - 1;
  }
}

// --- Controls -----------------------------------------------------------------------------------

function options(select, entries) {
  select.replaceChildren(...entries.map(([value, textContent]) => make('option', { value, textContent })));
}

/** The controls of a data set. */
function dress() {
  const data = dataOf(view.dataset);
  const { by, classes } = data.about;
  const { elements } = controls;
  options(elements.arm, by.map((one, at) => [at, one.title]));
  options(elements.than, by.map((one, at) => [at, one.title]));
  const counts = classes.map(() => 0);
  for (const best of data.majority) for (const c of best) counts[c]++;
  options(elements.class, [['', 'any class'], ...classes.map((name, c) => [c, `${name} (${counts[c].toLocaleString('en')})`])]);
  const list = $('#shown');
  $$('label', list).forEach((label) => label.remove());
  by.forEach((one, at) => {
    const { box, label } = toggle(one.title, view.shown.includes(at), armColour(one.arm), (on) => {
      view.shown = on ? [...view.shown, at].sort((a, b) => a - b) : view.shown.filter((other) => other !== at);
      draw(false);
      link();
    });
    box.value = at;
    list.append(label);
  });
  for (const [value, least] of [['kl', 1], ['gain', 2]]) $(`option[value="${value}"]`, elements.sort).disabled = by.length < least;
  const said = [...data.about.notes, 'Probabilities are kept to ±0.002 and shown as whole percents; KL and gains are computed from the exact ones, in nats.'];
  $('#item-notes').textContent = said.join(' ');
}

/** Puts the view into the controls. */
function reflect() {
  const { elements } = controls;
  for (const name of ['dataset', 'sort', 'arm', 'than', 'order', 'class', 'q']) elements[name].value = view[name];
  $('[data-for="arm"]').hidden = view.sort !== 'kl' && view.sort !== 'gain';
  $('[data-for="than"]').hidden = view.sort !== 'gain';
  for (const box of $$('#shown input')) box.checked = view.shown.includes(Number(box.value));
}

const firstShown = (at) => collections[at].by.map((_, by) => by).slice(0, 4);

/** The view as an address, which can be kept and sent. */
function link() {
  const { about } = dataOf(view.dataset);
  const name = (at) => about.by[at]?.name ?? '';
  const parts = new URLSearchParams({ dataset: about.name, sort: view.sort });
  if (view.sort === 'kl' || view.sort === 'gain') parts.set('arm', name(view.arm));
  if (view.sort === 'gain') parts.set('than', name(view.than));
  parts.set('order', view.order);
  if (view.class !== '') parts.set('class', about.classes[view.class]);
  if (view.q) parts.set('q', view.q);
  if (view.page) parts.set('page', view.page + 1);
  for (const at of view.shown) parts.append('show', name(at));
  if (!view.shown.length) parts.set('show', '');
  history.replaceState(null, '', `#items?${parts}`);
}

/** Takes the view from an address; what it does not know there stays as it begins. */
function follow() {
  if (!location.hash.startsWith('#items?')) return false;
  const parts = new URLSearchParams(location.hash.slice('#items?'.length));
  const found = (at) => Math.max(0, at);
  view.dataset = found(collections.findIndex((one) => one.name === parts.get('dataset')));
  const { by, classes } = collections[view.dataset];
  const known = (name) => found(by.findIndex((one) => one.name === name));
  view.sort = ['entropy', 'kl', 'gain', 'id'].includes(parts.get('sort')) ? parts.get('sort') : 'entropy';
  if (!by.length && view.sort !== 'id') view.sort = 'entropy';
  view.arm = known(parts.get('arm'));
  view.than = known(parts.get('than'));
  view.order = parts.get('order') === 'up' ? 'up' : 'down';
  const of = classes.indexOf(parts.get('class'));
  view.class = of < 0 ? '' : String(of);
  view.q = parts.get('q') ?? '';
  view.page = Math.max(0, (parseInt(parts.get('page'), 10) || 1) - 1);
  const names = parts.getAll('show');
  view.shown = parts.has('show') ? [...by.keys()].filter((at) => names.includes(by[at].name)) : firstShown(view.dataset);
  return true;
}

function go(step) {
  const before = view.page;
  view.page += step;
  draw(false);
  if (view.page !== before) link();
}

function begin() {
  const { elements } = controls;
  options(elements.dataset, collections.map((one, at) => [at, one.title]));
  $('[data-for="dataset"]').hidden = collections.length < 2;
  controls.addEventListener('submit', (event) => event.preventDefault());
  let waiting = 0;
  controls.addEventListener('input', (event) => {
    const { name, value } = event.target;
    if (!(name in view)) return;
    view[name] = ['dataset', 'arm', 'than'].includes(name) ? Number(value) : value;
    view.page = 0;
    if (name === 'dataset') {
      Object.assign(view, { sort: 'entropy', arm: 0, than: 0, order: 'down', class: '', shown: firstShown(view.dataset) });
      dress();
    }
    if (name === 'sort') {
      view.order = value === 'id' ? 'up' : 'down';
      // Two different arms, to begin with.
      if (value === 'gain' && view.arm === view.than) view.arm = view.than === 0 ? 1 : 0;
    }
    clearTimeout(waiting);
    waiting = setTimeout(() => { reflect(); draw(); link(); }, name === 'q' ? 150 : 0);
  });
  for (const button of $$('[data-go]')) button.addEventListener('click', () => go(Number(button.dataset.go)));
  $('#items').addEventListener('keydown', (event) => {
    if (event.target.closest('input, select, textarea') || event.ctrlKey || event.metaKey || event.altKey) return;
    const step = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    go(step);
    $('#grid').focus({ preventScroll: true });
  });
  document.addEventListener('arms', () => draw(false));
  addEventListener('hashchange', () => {
    if (!follow()) return;
    dress();
    reflect();
    draw();
    $('#items').scrollIntoView();
  });
  const linked = follow();
  if (!linked) view.shown = firstShown(0);
  dress();
  reflect();
  draw();
  controls.hidden = false;
  for (const pager of $$('[data-pager]')) pager.hidden = false;
  if (linked) $('#items').scrollIntoView();
}

if (collections.length) begin();
