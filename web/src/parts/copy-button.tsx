import { useState } from 'react';
import { copyText } from '../copy.ts';

interface CopyButtonProps {
  readonly text: string;
  readonly words?: string;
}

/** Copies a text; the whole of it stands in the title, so that nobody pastes what they have not seen. */
export function CopyButton({ text, words = 'copy' }: CopyButtonProps) {
  const [copied, setCopied] = useState<string | undefined>();
  const copy = async (): Promise<void> => {
    setCopied((await copyText(text)) ? text : undefined);
  };
  return (
    <button className="link" title={text} onClick={() => void copy()}>
      {copied === text ? 'copied' : words}
    </button>
  );
}
