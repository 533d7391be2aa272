
(() => {
  'use strict';
  const $ = (id) => document.getElementById(id);
  document.documentElement.classList.add('js');

  // Printed, everything is open.
  let opened = [];
  addEventListener('beforeprint', () => {
    opened = [...document.querySelectorAll('details:not([open])')];
    for (const details of opened) details.open = true;
  });
  addEventListener('afterprint', () => {
    for (const details of opened) details.open = false;
    opened = [];
  });

  for (const button of document.querySelectorAll('.copy')) {
    button.addEventListener('click', async () => {
      const code = button.previousElementSibling;
      const label = button.firstChild;
      try {
        await navigator.clipboard.writeText(code.textContent);
        label.data = 'Copied';
      } catch {
        getSelection().selectAllChildren(code);
        label.data = 'Selected';
      }
      setTimeout(() => { label.data = 'Copy'; }, 2000);
    });
  }

  const list = $('changes');
  if (!list) return;
  const changes = [...list.querySelectorAll('.c')];
  const modules = [...list.querySelectorAll('.m')];
  const search = $('q');
  const [module, type, danger, count] = [$('module'), $('type'), $('danger'), $('count')];
  const chips = [...list.querySelectorAll('.chip[data-a]')];
  const help = $('help');
  const none = list.querySelector('.none');
  let texts = null;
  let shown = changes;

  const pressed = (chip) => chip.getAttribute('aria-pressed') === 'true';
  const press = (chip, on) => chip.setAttribute('aria-pressed', String(on));

  function filter() {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    if (words.length && !texts) {
      texts = changes.map((change) => `${change.dataset.m} ${change.textContent}`.toLowerCase());
    }
    const actions = new Set(chips.filter(pressed).map((chip) => chip.dataset.a));
    const dangerous = danger !== null && pressed(danger);
    shown = changes.filter((change, i) => {
      const { a, t, m } = change.dataset;
      return (!actions.size || actions.has(a))
        && (module.value === '*' || m === module.value)
        && (type.value === '*' || t === type.value)
        && (!dangerous || 'd' in change.dataset)
        && words.every((word) => texts[i].includes(word));
    });
    const visible = new Set(shown);
    for (const change of changes) change.hidden = !visible.has(change);
    for (const part of modules) part.hidden = !part.querySelector('.c:not([hidden])');
    none.hidden = shown.length > 0;
    count.textContent = shown.length === changes.length
      ? `${changes.length} changes` : `${shown.length} of ${changes.length} changes`;
  }

  function clear() {
    search.value = '';
    module.value = '*';
    type.value = '*';
    for (const chip of chips) press(chip, false);
    if (danger) press(danger, false);
    filter();
  }

  let waiting = 0;
  search.addEventListener('input', () => {
    cancelAnimationFrame(waiting);
    waiting = requestAnimationFrame(filter);
  });
  module.addEventListener('change', filter);
  type.addEventListener('change', filter);
  for (const chip of danger ? [...chips, danger] : chips) {
    chip.addEventListener('click', () => { press(chip, !pressed(chip)); filter(); });
  }
  list.querySelector('form').addEventListener('submit', (event) => event.preventDefault());
  $('clear').addEventListener('click', () => { clear(); search.focus(); });

  function toggleAll() {
    const open = !shown.every((change) => change.open);
    for (const change of shown) change.open = open;
    $('all').textContent = open ? 'Close all' : 'Open all';
  }
  $('all').addEventListener('click', toggleAll);
  $('keys').addEventListener('click', () => help.showModal());

  function move(by) {
    if (!shown.length) return;
    const here = shown.indexOf(document.activeElement?.closest('.c'));
    const next = here < 0 ? (by > 0 ? 0 : shown.length - 1) : Math.min(Math.max(here + by, 0), shown.length - 1);
    const summary = shown[next].querySelector('summary');
    summary.focus({ preventScroll: true });
    summary.scrollIntoView({ block: 'center' });
  }

  // Whoever speaks to the computer, or hits keys by accident, can switch letters off.
  const letters = $('letters');
  try {
    letters.checked = sessionStorage.getItem('plumbline-letters') !== 'off';
    letters.addEventListener('change', () => {
      sessionStorage.setItem('plumbline-letters', letters.checked ? 'on' : 'off');
    });
  } catch { /* Without storage, the choice holds for this page. */ }

  document.addEventListener('keydown', (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || help.open) return;
    const typing = event.target.closest('input, select, textarea');
    if (event.key === 'Escape') {
      clear();
      if (typing) typing.blur();
      return;
    }
    if (typing || !letters.checked) return;
    const act = {
      '/': () => { search.focus(); search.select(); },
      j: () => move(1),
      k: () => move(-1),
      o: toggleAll,
      d: () => danger && danger.click(),
      '?': () => help.showModal(),
    }[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  });

  function follow() {
    const target = /^#c\d+$/.test(location.hash) && $(location.hash.slice(1));
    if (!target) return;
    if (target.hidden) clear();
    target.open = true;
    const summary = target.querySelector('summary');
    summary.focus({ preventScroll: true });
    target.scrollIntoView({ block: 'center' });
  }
  addEventListener('hashchange', follow);
  document.addEventListener('click', (event) => {
    const link = event.target.closest('a[href^="#c"]');
    // The same place again is no change of the hash.
    if (link && link.getAttribute('href') === location.hash) follow();
  });
  filter();
  follow();
})();
