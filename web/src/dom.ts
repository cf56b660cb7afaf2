// Elements from code. Text is always set as text, never as HTML: tokens come from strangers.

type Listener = (event: never) => void;
type Property = string | number | boolean | null | undefined | Listener;
type Child = Node | string | null | undefined | false;

export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  properties: Record<string, Property> = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === 'function') element.addEventListener(name.replace(/^on/, ''), value as EventListener);
    else if (name === 'value' || name === 'checked') Reflect.set(element, name, value);
    else element.setAttribute(name, value === true ? '' : String(value));
  }
  element.append(
    ...children.filter((child): child is Node | string => child !== null && child !== undefined && child !== false),
  );
  return element;
}

export function replaceChildren(parent: Element, ...children: Child[]): void {
  parent.replaceChildren(...children.filter((child): child is Node | string => !!child));
}

// A button whose words say what it does; shorter text may be shown instead.
export function button(
  words: string,
  onclick: () => void,
  properties: Record<string, Property> = {},
  shown = words,
): HTMLButtonElement {
  const named = shown === words ? {} : { 'aria-label': words, title: words };
  return h('button', { type: 'button', onclick, ...named, ...properties }, shown);
}

export function checkbox(words: string, checked: boolean, onchange: (checked: boolean) => void): HTMLLabelElement {
  const box = h('input', { type: 'checkbox', checked, onchange: () => onchange(box.checked) });
  return h('label', { class: 'check' }, box, words);
}

export interface Choice {
  value: string;
  words: string;
  group?: string;
}

// A list to choose from; neighbours with the same group stand under its name.
export function select(
  words: string,
  choices: Choice[],
  value: string,
  onchange: (value: string) => void,
): HTMLSelectElement {
  const list = h('select', { 'aria-label': words, onchange: () => onchange(list.value) });
  let group: HTMLOptGroupElement | null = null;
  for (const choice of choices) {
    const option = h('option', { value: choice.value, selected: choice.value === value }, choice.words);
    if (choice.group === undefined) {
      list.append(option);
      continue;
    }
    if (!group || group.label !== choice.group) list.append((group = h('optgroup', { label: choice.group })));
    group.append(option);
  }
  return list;
}
