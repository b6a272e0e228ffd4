/** The outside world did not play along. The edge prints the message and the hint, never a stack. */
export class OperationError extends Error {
  override readonly name = 'OperationError';
  readonly code: string;
  /** What to do about it, for the person who sees it. */
  readonly hint: string | undefined;

  constructor(code: string, message: string, options: { hint?: string; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? {} : { cause: options.cause });
    this.code = code;
    this.hint = options.hint;
  }
}
