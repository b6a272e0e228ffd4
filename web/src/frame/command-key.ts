import { copyText } from '../copy.ts';
import { useKeys } from './keys.ts';

/** `.` copies the command that says what the page says; nothing while it is not known. */
export function useCommandKey(command: string | null | undefined): void {
  useKeys(
    command == null ? [] : [{ key: '.', words: 'copy as command', isShown: true, run: () => void copyText(command) }],
  );
}
