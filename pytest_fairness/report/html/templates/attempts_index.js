// What the page holds of the attempts, and which of them match; nothing of the page is touched here
// but the packed data. report/attempts.py packs them: first an index of columns that point into tables
// of names and texts, then the texts in chunks.
const packedAttempts = (() => {
  'use strict';

  const MOST_VALUES = 30; // a list of more is a list nobody reads
  const KINDS = ['suite', 'probe', 'model']; // of a sample, in this order
  const MOST_WORDS = 30; // bits of a small integer

  async function unpacked(script) {
    const letters = atob(script.textContent);
    const bytes = new Uint8Array(letters.length);
    for (let i = 0; i < letters.length; i += 1) bytes[i] = letters.charCodeAt(i);
    script.remove(); // its memory is free from here on
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate-raw'));
    return JSON.parse(await new Response(stream).text());
  }

  function summed(steps) {
    for (let i = 1; i < steps.length; i += 1) steps[i] += steps[i - 1];
  }

  async function open(script) {
    const index = await unpacked(script);
    const { attempts, grades } = index;
    [attempts.prompt, attempts.text, attempts.reasoning, ...grades.map((grade) => grade.detail)].forEach(summed);
    const lower = []; // for the search, which would take too long if it lowered them each time
    return { ...index, texts: [], lower, total: attempts.prompt.length, nameOf: (place) => index.names[place] };
  }

  async function readTexts(index, script) {
    for (const text of await unpacked(script)) {
      index.texts.push(text);
      index.lower.push(text.toLowerCase());
    }
  }

  // What can be chosen: {key, label, options: [value, text], samples: which have it, or null for all}.

  function fieldsOf(index) {
    const { nameOf, prompts, attempts } = index;
    const same = (names) => names.map((name) => [name, name]);
    const kinds = KINDS.map((kind, place) => {
      const names = [...new Set(index.samples.map((sample) => nameOf(sample[place])))].sort();
      return { key: kind, label: kind[0].toUpperCase() + kind.slice(1), options: same(names), samples: null };
    });
    const groups = index.attributes.map((attribute, place) => {
      const column = index.groups[place];
      const samples = new Set(prompts.sample.filter((_, prompt) => column[prompt] >= 0));
      const name = nameOf(attribute);
      return { key: `group.${name}`, label: `Group: ${name}`, options: same(namesIn(index, column)), samples };
    });
    const grades = index.grades.map((grade) => {
      const graded = attempts.prompt.filter((_, i) => grade.value[i] >= 0 || grade.reason[i] >= 0);
      const samples = new Set(graded.map((prompt) => prompts.sample[prompt]));
      const name = nameOf(grade.name);
      return { key: `grade.${name}`, label: `Grade: ${name}`, options: gradeOptions(index, grade), samples };
    });
    return [...kinds, ...groups, ...grades];
  }

  function namesIn(index, column) {
    const names = [...new Set(column)].filter((place) => place >= 0).map(index.nameOf);
    return names.sort((a, b) => a.localeCompare(b, 'en', { numeric: true }));
  }

  // The value of an option is a small code: is:VALUE, in:LOW:HIGH, not:REASON, and not: for any reason.
  function gradeOptions(index, grade) {
    const values = namesIn(index, grade.value);
    const options = values.length <= MOST_VALUES
      ? values.map((value) => [`is:${value}`, value])
      : quarters(values).map(([low, high]) => [`in:${low}:${high}`, `${low} to ${high}`]);
    const reasons = namesIn(index, grade.reason);
    if (reasons.length) options.push(['not:', 'ungraded']);
    return options.concat(reasons.map((reason) => [`not:${reason}`, `ungraded: ${reason}`]));
  }

  function quarters(values) {
    const numbers = values.map(Number).filter(Number.isFinite).sort((a, b) => a - b);
    if (numbers.length < values.length) return []; // so many texts: they are searched, not chosen
    const at = (part) => numbers[Math.round(part * (numbers.length - 1) / 4)];
    return [0, 1, 2, 3].map((part) => [at(part), at(part + 1)]);
  }

  // Which attempts match: each filter becomes a test of names, looked up by their index.

  function matching(index, wanted) {
    const prompts = promptsThatMatch(index, wanted);
    const tests = index.grades.flatMap((grade) => {
      const code = wanted.get(`grade.${index.nameOf(grade.name)}`);
      return code ? [gradeTest(index, grade, code)] : [];
    });
    const hasWords = wanted.get('search') ? wordsTest(index, wanted.get('search')) : () => true;
    const found = [];
    for (let i = 0; i < index.total; i += 1) {
      if (prompts[index.attempts.prompt[i]] && tests.every(([column, ok]) => ok[column[i]]) && hasWords(i)) found.push(i);
    }
    return found;
  }

  function samplesThatMatch(index, wanted) {
    return index.samples.map((sample) => KINDS.every((kind, place) => {
      const name = wanted.get(kind);
      return !name || index.nameOf(sample[place]) === name;
    }));
  }

  function promptsThatMatch(index, wanted) {
    const samples = samplesThatMatch(index, wanted);
    const tests = [];
    const item = wanted.get('item');
    if (item) tests.push([index.prompts.item, index.names.map(itemTest(item))]);
    index.attributes.forEach((attribute, place) => {
      const group = wanted.get(`group.${index.nameOf(attribute)}`);
      if (group) tests.push([index.groups[place], index.names.map((name) => name === group)]);
    });
    return index.prompts.sample.map((sample, i) => samples[sample] && tests.every(([column, ok]) => ok[column[i]]));
  }

  function itemTest(item) {
    if (/^".+"$/.test(item)) return (name) => name === item.slice(1, -1);
    return (name) => name.toLowerCase().includes(item.toLowerCase());
  }

  function gradeTest(index, grade, code) {
    const [, kind, wanted] = /^(\w+):(.*)$/.exec(code);
    const [low, high] = wanted.split(':').map(Number);
    const holds = {
      is: (name) => name === wanted,
      in: (name) => low <= Number(name) && Number(name) <= high,
      not: (name) => wanted === '' || name === wanted,
    }[kind];
    return [kind === 'not' ? grade.reason : grade.value, index.names.map(holds)];
  }

  // Each text's words as bits: one may stand in the prompt, another in the answer, a third in the judge's words.
  function wordsTest(index, search) {
    const { attempts, grades, lower, prompts } = index;
    const words = [...new Set(search.toLowerCase().split(/\s+/))].slice(0, MOST_WORDS);
    const bits = new Uint32Array(lower.length);
    words.forEach((word, place) => {
      for (let i = 0; i < lower.length; i += 1) if (lower[i].includes(word)) bits[i] |= 1 << place;
    });
    const asked = index.conversations.map((said) => said.reduce((found, text, i) => (i % 2 ? found | bits[text] : found), 0));
    const all = 2 ** words.length - 1;
    return (i) => {
      let found = asked[prompts.conversation[attempts.prompt[i]]];
      found |= bits[attempts.text[i]] | bits[attempts.reasoning[i]] | bits[attempts.error[i]];
      for (const grade of grades) found |= bits[grade.detail[i]];
      return found === all;
    };
  }

  return { open, readTexts, fieldsOf, samplesThatMatch, matching };
})();
