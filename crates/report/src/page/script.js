'use strict';
// What makes the page answer. Whatever comes from data is set as text, never as markup.

const $ = (selector, within = document) => within.querySelector(selector);
const $$ = (selector, within = document) => [...within.querySelectorAll(selector)];
const told = JSON.parse($('#told').textContent);

/** An element with properties and children. */
function make(name, properties = {}, ...children) {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...children);
  return element;
}

/** Tells a screen reader. */
function say(text) {
  $('#said').textContent = text;
}

const armColour = (place) => (place === null ? 'var(--muted)' : `var(--figure-arm-${place % 12})`);
const armTitle = (name) => (told.arms.find((arm) => arm[0] === name) ?? [name, name])[1];

// --- Light and dark -----------------------------------------------------------------------------

{
  const root = document.documentElement;
  const system = matchMedia('(prefers-color-scheme: dark)');
  const button = $('#theme');
  const isDark = () => (root.dataset.theme ? root.dataset.theme === 'dark' : system.matches);
  const label = () => {
    button.textContent = isDark() ? '☀ Light' : '☾ Dark';
    button.setAttribute('aria-label', isDark() ? 'Switch to light' : 'Switch to dark');
  };
  button.addEventListener('click', () => {
    root.dataset.theme = isDark() ? 'light' : 'dark';
    try {
      localStorage.setItem('dissensus-theme', root.dataset.theme);
    } catch { /* Not remembered, then. */ }
    label();
  });
  system.addEventListener('change', label);
  button.hidden = false;
  label();
  // On a narrow screen the contents would fill the first page.
  if (matchMedia('(max-width: 62rem)').matches) $('.contents details').open = false;
}

// --- Tips ---------------------------------------------------------------------------------------

const tip = $('#tip');
let tipped = null;

function showTip(element, x, y) {
  if (tipped && tipped !== element) tipped.removeAttribute('aria-describedby');
  tipped = element;
  tip.textContent = element.dataset.tip;
  tip.hidden = false;
  const { width, height } = tip.getBoundingClientRect();
  const right = document.documentElement.clientWidth;
  tip.style.left = `${Math.max(8, Math.min(x + 12, right - width - 8))}px`;
  const below = y + 16;
  tip.style.top = `${Math.max(8, below + height > innerHeight - 8 ? y - height - 10 : below)}px`;
}

function hideTip() {
  if (tipped) tipped.removeAttribute('aria-describedby');
  tipped = null;
  tip.hidden = true;
}

document.addEventListener('pointermove', (event) => {
  if (event.pointerType === 'touch') return;
  const over = event.target.closest?.('[data-tip]');
  if (over) showTip(over, event.clientX, event.clientY);
  else if (tipped && tipped !== document.activeElement) hideTip();
});
document.addEventListener('focusin', (event) => {
  const on = event.target.closest?.('[data-tip]');
  if (!on) return hideTip();
  const box = on.getBoundingClientRect();
  showTip(on, box.left, box.bottom - 8);
  on.setAttribute('aria-describedby', 'tip');
});
document.addEventListener('focusout', hideTip);
document.addEventListener('keydown', (event) => {
  if (event.key === 'Escape') hideTip();
});
addEventListener('scroll', hideTip, { passive: true, capture: true });

/** One of many elements is in the tab order; arrow keys go on to the others. */
function rove(elements, next) {
  if (!elements.length) return;
  let current = elements[0];
  for (const element of elements) element.setAttribute('tabindex', '-1');
  current.setAttribute('tabindex', '0');
  const move = (to) => {
    if (!to) return;
    current.setAttribute('tabindex', '-1');
    current = to;
    current.setAttribute('tabindex', '0');
  };
  const among = new Set(elements);
  const within = (event) => {
    let at = event.target;
    while (at && !among.has(at)) at = at.parentElement;
    return at;
  };
  return {
    focusin: (event) => move(within(event)),
    keydown: (event) => {
      const from = within(event);
      const to = from && next(from, event.key);
      if (!to) return;
      event.preventDefault();
      move(to);
      to.focus();
    },
  };
}

// --- Tables -------------------------------------------------------------------------------------

const collator = new Intl.Collator(undefined, { numeric: true });

function sortable(table) {
  const body = table.tBodies[0];
  const original = [...body.rows];
  const heads = $$('[data-sort]', table);
  for (const button of heads) {
    button.addEventListener('click', () => {
      const column = Number(button.dataset.sort);
      const head = button.closest('th');
      const order = { none: 'ascending', ascending: 'descending', descending: 'none' }[head.getAttribute('aria-sort')];
      for (const other of heads) other.closest('th').setAttribute('aria-sort', 'none');
      head.setAttribute('aria-sort', order);
      table.classList.toggle('sorted', order !== 'none');
      body.append(...(order === 'none' ? original : sorted(original, column, order)));
      say(order === 'none' ? 'In the original order' : `Sorted by ${button.innerText.trim()}, ${order}`);
    });
  }
}

/** Rows by a column; what has no value comes last in either direction. */
function sorted(rows, column, order) {
  const sign = order === 'ascending' ? 1 : -1;
  const numbers = rows.some((row) => row.cells[column].dataset.value !== undefined);
  const keyed = rows.map((row) => {
    const cell = row.cells[column];
    const text = cell.innerText.trim();
    const value = cell.dataset.value;
    return { row, key: numbers ? (value === undefined ? null : Number(value)) : cell.matches('.none') ? null : text };
  });
  const compare = (a, b) => {
    if (a.key === null || b.key === null) return (a.key === null) - (b.key === null);
    return sign * (numbers ? (a.key > b.key) - (a.key < b.key) : collator.compare(a.key, b.key));
  };
  return keyed.sort(compare).map(({ row }) => row);
}

/** The neighbour of a cell that has something to tell. */
function besides(cell, key) {
  const row = cell.parentElement;
  const step = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[key];
  if (!step) return null;
  const rows = row.parentElement.rows;
  let [y, x] = [row.sectionRowIndex, cell.cellIndex];
  do {
    y += step[0];
    x += step[1];
    const to = rows[y]?.cells[x];
    if (!to) return null;
    if (to.dataset.tip && !to.closest('.off')) return to;
  } while (true);
}

async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}

/** Words below a table that is wider than its card, as long as there is more to the right. */
function cue(card) {
  const wide = $('.wide', card);
  const words = $('[data-cue]', card);
  const [first, second] = $$('thead .corner', card);
  const show = () => {
    // The second head of a line stays in view too, beside the first.
    if (second) wide.style.setProperty('--beside', `${first.offsetWidth}px`);
    const hidden = wide.scrollWidth - wide.clientWidth;
    words.hidden = hidden < 2 || wide.scrollLeft > hidden - 2;
  };
  wide.addEventListener('scroll', show, { passive: true });
  new ResizeObserver(show).observe(wide);
}

for (const card of $$('[data-table]')) {
  const table = $('table', card);
  cue(card);
  sortable(table);
  const roving = rove($$('td[data-tip]', table), besides);
  if (roving) for (const kind of ['focusin', 'keydown']) table.addEventListener(kind, roving[kind]);
  $('[data-published]', card)?.addEventListener('change', (event) => {
    table.classList.toggle('with-published', event.target.checked);
  });
  $('[data-copies]', card).hidden = false;
  for (const button of $$('[data-copy]', card)) {
    button.addEventListener('click', async () => {
      const text = told.tables[Number(card.dataset.table)][button.dataset.copy];
      if (await copy(text)) {
        say('Copied');
        const label = button.firstChild;
        const before = label.data;
        if (before !== '✓ copied') {
          label.data = '✓ copied';
          setTimeout(() => { label.data = before; }, 1500);
        }
        return;
      }
      const dialog = $('#copied');
      const area = $('textarea', dialog);
      area.value = text;
      dialog.showModal();
      area.select();
    });
  }
}

// --- How a number is made -----------------------------------------------------------------------

document.addEventListener('click', (event) => {
  const button = event.target.closest('[data-how]');
  if (!button) return;
  const metric = told.metrics[Number(button.dataset.how)];
  $('#how-title').textContent = metric.title;
  const better = { lower: 'lower is better', higher: 'higher is better' }[metric.better];
  const parts = [['Name', metric.name], ['What it is', metric.what], ['Formula', metric.formula],
    ['Direction', better], ['Settings', metric.settings], ['Source', metric.source]];
  const list = make('dl');
  for (const [name, text] of parts.filter((part) => part[1])) {
    // What stands between two backticks is code.
    const words = text.split('`').map((part, at) => (at % 2 ? make('code', { textContent: part }) : part));
    list.append(make('dt', { textContent: name }), make('dd', {}, ...words));
  }
  $('#how-text').replaceChildren(list);
  $('#how').showModal();
});
for (const dialog of $$('dialog')) {
  // A click beside the dialog closes it, too.
  dialog.addEventListener('click', (event) => {
    if (event.target === dialog) dialog.close();
  });
}

// --- Figures ------------------------------------------------------------------------------------

function toggle(name, checked, colour, onChange) {
  const box = make('input', { type: 'checkbox', checked });
  const swatch = make('span', { className: 'swatch' });
  swatch.style.background = colour;
  box.addEventListener('change', () => onChange(box.checked));
  return { box, label: make('label', {}, box, swatch, name) };
}

/** Titles become tips of our own: they can be styled, and a keyboard reaches them. */
function takeTitles(svg) {
  const marks = [];
  for (const title of [...svg.querySelectorAll('title')]) {
    const mark = title.parentElement;
    title.remove();
    if (mark === svg) continue;
    mark.dataset.tip = title.textContent;
    mark.setAttribute('aria-label', title.textContent);
    mark.setAttribute('role', 'img');
    marks.push(mark);
  }
  return marks;
}

/** The drawing as it is shown, as a file: without what is hidden, and with its titles. */
function asFile(svg) {
  const whole = svg.cloneNode(true);
  for (const hidden of whole.querySelectorAll('.off')) hidden.remove();
  whole.removeAttribute('style');
  for (const mark of [whole, ...whole.querySelectorAll('[data-tip]')]) {
    const title = document.createElementNS('http://www.w3.org/2000/svg', 'title');
    title.textContent = mark.dataset.tip ?? mark.getAttribute('aria-label') ?? '';
    mark.prepend(title);
    for (const name of ['data-tip', 'tabindex', 'aria-label', 'aria-describedby']) mark.removeAttribute(name);
  }
  whole.setAttribute('xmlns', 'http://www.w3.org/2000/svg');
  return new XMLSerializer().serializeToString(whole);
}

for (const card of $$('[data-figure]')) {
  const svg = $('.drawing > svg', card);
  if (!svg) continue;
  svg.setAttribute('role', 'group');
  svg.setAttribute('aria-label', $('h3', card).textContent);
  const marks = takeTitles(svg);
  const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
  const place = new Map(marks.map((mark, at) => [mark, at]));
  const roving = rove(marks, (from, key) => {
    let at = place.get(from);
    do at += step[key] ?? NaN; while (marks[at]?.closest('.off'));
    return marks[at];
  });
  if (roving) for (const kind of ['focusin', 'keydown']) svg.addEventListener(kind, roving[kind]);
  const button = $('[data-download]', card);
  button.hidden = false;
  button.addEventListener('click', () => {
    const url = URL.createObjectURL(new Blob([asFile(svg)], { type: 'image/svg+xml' }));
    make('a', { href: url, download: `${card.dataset.figure}.svg` }).click();
    setTimeout(() => URL.revokeObjectURL(url), 10000);
  });
}
// --- Arms ---------------------------------------------------------------------------------------

const hiddenArms = new Set();

/** The heads over several columns span those that are left. */
function spanColumns(table) {
  const last = table.tHead.rows[table.tHead.rows.length - 1];
  const leaves = [...last.cells].filter((cell) => !cell.matches('.corner'));
  for (const head of $$('[data-from]', table.tHead)) {
    head.dataset.span ??= head.colSpan;
    const from = Number(head.dataset.from);
    const left = leaves.slice(from, from + Number(head.dataset.span)).filter((leaf) => !leaf.matches('.off')).length;
    head.classList.toggle('off', left === 0);
    head.colSpan = Math.max(1, left);
  }
}

function showArm(name, on) {
  if (on) hiddenArms.delete(name);
  else hiddenArms.add(name);
  for (const part of $$('main [data-arm]')) {
    if (part.dataset.arm === name) part.classList.toggle('off', !on);
  }
  for (const table of $$('table.results')) spanColumns(table);
  document.dispatchEvent(new Event('arms'));
  say(`${armTitle(name)} ${on ? 'shown' : 'hidden'}`);
}

{
  const found = new Set($$('main [data-arm]').map((part) => part.dataset.arm));
  const row = $('#page-arms');
  told.arms.forEach(([name, title], at) => {
    if (found.has(name)) row.append(toggle(title, true, armColour(at), (on) => showArm(name, on)).label);
  });
  row.hidden = found.size < 2;
  // What sticks below the header has to know how high it is.
  const header = $('.top');
  new ResizeObserver(() => document.documentElement.style.setProperty('--top', `${header.offsetHeight}px`)).observe(header);
}

// --- Paper --------------------------------------------------------------------------------------

let opened = [];
addEventListener('beforeprint', () => {
  opened = $$('main details:not([open])');
  for (const details of opened) details.open = true;
});
addEventListener('afterprint', () => {
  for (const details of opened) details.open = false;
});
