/** What was copied last, or could not be. */
export interface Copied {
  readonly text: string;
  readonly isDone: boolean;
}

const TOLD_MS = 4000;
const listeners = new Set<() => void>();
let last: Copied | undefined;
let timer: ReturnType<typeof setTimeout> | undefined;

function tell(copied: Copied | undefined): void {
  last = copied;
  for (const listener of listeners) listener();
}

export function listenToCopies(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function lastCopied(): Copied | undefined {
  return last;
}

export function forgetCopied(): void {
  tell(undefined);
}

/**
 * Copies a text, and says so; where the browser does not let it, the text is shown to be copied by hand. Only pages of https and of this
 * machine have a clipboard: on http://host there is the older way.
 */
export async function copyText(text: string): Promise<boolean> {
  const isDone = (await byClipboard(text)) || bySelection(text);
  clearTimeout(timer);
  tell({ text, isDone });
  if (isDone) timer = setTimeout(forgetCopied, TOLD_MS);
  return isDone;
}

async function byClipboard(text: string): Promise<boolean> {
  // Typed as always there, and absent where the page is not secure.
  const clipboard = navigator.clipboard as Clipboard | undefined;
  if (clipboard === undefined) return false;
  return clipboard.writeText(text).then(
    () => true,
    () => false,
  );
}

function bySelection(text: string): boolean {
  const field = document.createElement('textarea');
  field.value = text;
  field.className = 'unseen';
  field.setAttribute('aria-hidden', 'true');
  const focused = document.activeElement;
  // In an open dialog nothing outside it can be selected.
  (document.querySelector('dialog[open]') ?? document.body).append(field);
  field.select();
  const isDone = document.execCommand('copy');
  field.remove();
  if (focused instanceof HTMLElement) focused.focus();
  return isDone;
}
