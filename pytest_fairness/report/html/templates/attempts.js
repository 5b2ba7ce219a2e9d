// The browser of all attempts. Model text is hostile: it reaches the page as text nodes and as the
// values of options, never as markup.
(() => {
  'use strict';

  const PAGE = 50;
  const TOOL_ROLES = { tools: 'Tools', tool_calls: 'Tool calls', tool: 'Result of a tool' };
  const LONG = 20000; // characters: a megabyte at once would hold the page up for seconds

  const section = document.getElementById('attempts');
  if (!section) return;
  const form = document.getElementById('attempts-filters');
  const list = document.getElementById('attempts-list');
  const status = document.getElementById('attempts-status');
  status.textContent = 'The attempts are being unpacked.';
  const pagers = [...section.querySelectorAll('.attempts-pager')];
  const controls = new Map(); // by key of the address: search, item, suite, group.gender, grade.advance, ...
  const optional = []; // the filters that not every sample has

  let index; // what is packed
  let matching = []; // numbers of the attempts that match the filters, in order
  let page = 0;
  let opened = null; // the number of the attempt that was opened last
  let changing = false;
  let textsAreHere = false;
  let announceTexts;
  const allTexts = new Promise((resolve) => { announceTexts = resolve; });

  const written = (number) => number.toLocaleString('en');
  const many = (count, word) => `${written(count)} ${word}${count === 1 ? '' : 's'}`;

  function make(tag, className, ...content) {
    const element = document.createElement(tag);
    if (className) element.className = className;
    element.append(...content);
    return element;
  }

  function button(label, act) {
    const made = make('button', '', label);
    made.type = 'button';
    made.addEventListener('click', act);
    return made;
  }

  const isolated = (text) => make('bdi', '', text); // a name may run from right to left

  const breath = () => new Promise((resolve) => { setTimeout(resolve); }); // the browser paints, and hears its user

  async function start() {
    const [first, ...rest] = section.querySelectorAll('script.attempts-packed');
    await breath(); // the page above is painted first
    index = await packedAttempts.open(first);
    buildFilters();
    buildPagers();
    section.querySelector('.attempts-heads').hidden = false;
    readHash();
    section.dataset.state = 'listed';
    for (const script of rest) {
      await breath();
      await packedAttempts.readTexts(index, script);
      list.querySelectorAll('.attempts-answer[data-waits]').forEach(fillAnswer);
    }
    textsAreHere = true;
    announceTexts();
    section.dataset.state = 'ready';
    if (filters().has('search')) update();
  }

  // Filters.

  function filters() {
    const values = [...controls].map(([key, { type, value }]) => [key, type === 'search' ? value.trim() : value]);
    return new Map(values.filter(([, value]) => value));
  }

  function setFilters(params) {
    for (const [key, control] of controls) {
      control.value = params.get(key) ?? '';
      if (control.selectedIndex === -1) control.value = ''; // no such option
    }
  }

  function buildFilters() {
    for (const key of ['search', 'item']) controls.set(key, document.getElementById(`attempts-${key}`));
    for (const { key, label, options, samples } of packedAttempts.fieldsOf(index)) {
      const control = make('select', '', new Option('all', ''));
      for (const [value, text] of options) control.add(new Option(text, value));
      control.id = `attempts-filter-${controls.size}`;
      const title = make('label', '', label);
      title.htmlFor = control.id;
      const field = make('div', 'attempts-field', title, control);
      field.hidden = options.length < 2; // nothing to choose from
      if (!field.hidden && samples) optional.push({ field, control, samples });
      if (key === 'model') section.classList.toggle('attempts-one-model', field.hidden);
      controls.set(key, control);
      form.append(field);
    }
    const clear = button('Clear the filters', () => { setFilters(new Map()); changed(); });
    form.append(make('div', 'attempts-field attempts-clear', clear));
    form.addEventListener('submit', (event) => event.preventDefault());
    form.addEventListener('input', changed);
    form.hidden = false;
  }

  function hideFilters() {
    const chosen = packedAttempts.samplesThatMatch(index, filters());
    for (const { field, control, samples } of optional) {
      field.hidden = !chosen.some((ok, sample) => ok && samples.has(sample));
      if (field.hidden) control.value = ''; // what is not seen must not filter
    }
  }

  function changed() {
    if (changing) return;
    changing = true; // several keys before the next picture are one change
    requestAnimationFrame(() => { changing = false; opened = null; update(); writeHash(); });
  }

  function update() {
    hideFilters();
    matching = packedAttempts.matching(index, filters());
    page = 0;
    render();
  }

  // The list.

  function render() {
    const from = page * PAGE;
    const shown = matching.slice(from, from + PAGE);
    list.replaceChildren(...shown.map(row));
    const late = !textsAreHere && filters().has('search') ? ' Texts are still being unpacked.' : '';
    status.textContent = (shown.length
      ? `${written(matching.length)} of ${many(index.total, 'attempt')} match; ${written(from + 1)} to ${written(from + shown.length)} are shown.`
      : `None of ${many(index.total, 'attempt')} matches.`) + late;
    const pages = Math.max(1, Math.ceil(matching.length / PAGE));
    pagers.forEach((pager, place) => {
      pager.hidden = pages === 1 || (place > 0 && !shown.length);
      const [previous, where, next] = pager.children;
      where.textContent = `Page ${written(page + 1)} of ${written(pages)}`;
      previous.setAttribute('aria-disabled', String(page === 0));
      next.setAttribute('aria-disabled', String(page === pages - 1));
    });
  }

  function buildPagers() {
    for (const pager of pagers) {
      pager.append(button('Previous', () => turn(-1, 0)), make('span'), button('Next', () => turn(1, 2)));
    }
  }

  function turn(step, place) {
    const pressed = pagers[0].children[place]; // of the upper pager, so that the list is read from its top
    if (pressed.getAttribute('aria-disabled') === 'true') return; // never `disabled`: that would lose the focus
    page += step;
    render();
    pressed.focus({ preventScroll: true });
    pressed.scrollIntoView({ block: 'nearest' });
  }

  function gradeWords(grade, number) {
    if (grade.value[number] >= 0) return index.nameOf(grade.value[number]);
    return grade.reason[number] >= 0 ? `ungraded: ${index.nameOf(grade.reason[number])}` : '';
  }

  // One attempt as the list and its details show it, its texts undefined until they are unpacked.
  function attemptOf(number) {
    const { attempts, attributes, conversations, grades, groups, nameOf, prompts, samples, texts } = index;
    const prompt = attempts.prompt[number];
    const [suite, probe, model] = samples[prompts.sample[prompt]].map(nameOf);
    const said = conversations[prompts.conversation[prompt]];
    return {
      suite, probe, model, item: nameOf(prompts.item[prompt]),
      groups: attributes.map((attribute, place) => [nameOf(attribute), groups[place][prompt]])
        .filter(([, group]) => group >= 0).map(([attribute, group]) => [attribute, nameOf(group)]),
      grades: grades.map((grade) => ({
        name: nameOf(grade.name), words: gradeWords(grade, number), detail: texts[grade.detail[number]],
      })).filter(({ words }) => words),
      messages: said.flatMap((role, i) => (i % 2 ? [] : [[nameOf(role), texts[said[i + 1]]]])),
      answer: texts[attempts.text[number]],
      error: texts[attempts.error[number]],
      reasoning: texts[attempts.reasoning[number]],
      finish: nameOf(attempts.finish[number]),
      servedBy: nameOf(attempts.served[number]),
      repetition: written(attempts.repetition[number]),
      latency: attempts.latency[number] ? `${(attempts.latency[number] / 1000).toFixed(2)} s` : '',
      source: attempts.stored[number] ? 'the store' : 'asked in this run',
    };
  }

  // A model's parameters stand in its details; in the list only where they alone tell two models apart.
  function shortName(model) {
    const [name] = model.split('?');
    const alike = new Set(index.samples.map(([, , other]) => index.nameOf(other)).filter((other) => other.split('?')[0] === name));
    return alike.size > 1 ? model : name;
  }

  const pairs = (of) => make('span', '', ...of.map(([name, value]) => make('span', '', isolated(name), ': ', isolated(value))));

  function row(number) {
    const { item, model, groups, grades } = attemptOf(number);
    const answer = make('span', 'attempts-answer');
    answer.dir = 'auto';
    answer.dataset.waits = number;
    fillAnswer(answer);
    const summary = make('summary', 'attempts-row',
      make('span', '', isolated(item)), make('span', '', isolated(shortName(model))),
      pairs(groups), pairs(grades.map(({ name, words }) => [name, words])), answer);
    const details = make('details', '', summary);
    details.id = `attempt-${number}`;
    details.addEventListener('toggle', () => {
      if (details.open) allTexts.then(() => fillDetails(details, number));
      if (details.open) opened = number;
      else if (opened === number) opened = null;
      writeHash();
    });
    return make('li', '', details);
  }

  function fillAnswer(cell) {
    const { answer, error } = attemptOf(Number(cell.dataset.waits));
    if (answer === undefined || error === undefined) return;
    delete cell.dataset.waits;
    cell.classList.toggle('attempts-missing', !answer);
    cell.textContent = (answer || error || '(empty answer)').slice(0, 200).replace(/\s+/g, ' ');
  }

  function fillDetails(details, number) {
    if (details.children.length > 1) return;
    const attempt = attemptOf(number);
    details.append(make('div', 'attempts-open',
      make('h3', '', `Attempt ${written(number)}`),
      ...attempt.messages.flatMap(([role, text]) => block(TOOL_ROLES[role] || `Message of the ${role}`, text)),
      ...(attempt.answer || !attempt.error ? block('Answer', attempt.answer || '(empty)') : []),
      ...(attempt.error ? block('Error', attempt.error) : []),
      ...attempt.grades.flatMap(({ name, words, detail }) => block(`Grade ${name}: ${words}`, detail)),
      ...(attempt.reasoning ? block('Reasoning', attempt.reasoning) : []),
      make('h4', '', 'How it was asked'),
      facts([
        ...attempt.groups, ['Item', attempt.item], ['Suite', attempt.suite], ['Probe', attempt.probe],
        ['Model', attempt.model], ['Served by', attempt.servedBy], ['Repetition', attempt.repetition],
        ['Finish reason', attempt.finish], ['Latency', attempt.latency], ['From', attempt.source],
      ]),
      ways(number, attempt)));
    for (const pre of details.querySelectorAll('pre')) if (pre.scrollHeight > pre.clientHeight) pre.tabIndex = 0;
  }

  function block(title, text) {
    const heading = make('h4', '', title);
    heading.dir = 'auto';
    if (!text) return [heading];
    const pre = make('pre', '', text.slice(0, LONG));
    pre.dir = 'auto';
    pre.setAttribute('role', 'group'); // it may scroll, and is then reached by the keyboard
    pre.setAttribute('aria-label', title);
    if (text.length <= LONG) return [heading, pre];
    const rest = button(`Show ${many(text.length - LONG, 'more character')}`, () => {
      pre.textContent = text;
      pre.focus(); // the button goes
      rest.remove();
    });
    return [heading, pre, rest];
  }

  function facts(named) {
    return make('dl', '', ...named.filter(([, value]) => value)
      .flatMap(([name, value]) => [make('dt', '', isolated(name)), make('dd', '', isolated(value))]));
  }

  function ways(number, { item, probe, model }) {
    const same = button('Show all of this item', () => {
      setFilters(new Map([['item', `"${item}"`], ['probe', probe], ['model', model]]));
      changed();
      controls.get('item').focus(); // the button goes with its row
    });
    const link = make('a', '', 'Link to this attempt');
    link.href = `#attempts?attempt=${number}`;
    return make('p', 'attempts-ways', same, link);
  }

  // The address: #attempts?KEY=VALUE&..., so that a view can be sent to somebody.

  function writeHash() {
    const params = new URLSearchParams([...filters()]);
    if (opened !== null) params.set('attempt', opened);
    history.replaceState(null, '', params.size ? `#attempts?${params}` : '#attempts');
  }

  function readHash() {
    const asked = location.hash.startsWith('#attempts?');
    const params = new URLSearchParams(asked ? location.hash.slice('#attempts?'.length) : '');
    setFilters(params);
    update();
    if (asked) section.scrollIntoView();
    const number = /^\d+$/.test(params.get('attempt') ?? '') ? Number(params.get('attempt')) : index.total;
    if (number >= index.total) return;
    if (!matching.includes(number)) { setFilters(new Map()); update(); }
    page = Math.floor(matching.indexOf(number) / PAGE);
    render();
    const details = document.getElementById(`attempt-${number}`);
    details.open = true;
    details.firstChild.focus();
    allTexts.then(() => { fillDetails(details, number); details.scrollIntoView(); });
  }

  function begin() {
    start().then(
      () => window.addEventListener('hashchange', () => { if (location.hash.startsWith('#attempts?')) readHash(); }),
      (error) => { status.textContent = `The attempts could not be unpacked: ${error.message}. The store has them.`; },
    );
  }

  if (document.readyState === 'loading') document.addEventListener('DOMContentLoaded', begin);
  else begin();
})();
