import { OperationError } from '../../../facts/operation-error.ts';
import { awsFailure } from './aws-failure.ts';
import type { AwsAction } from './aws-failure.ts';

/** How long one answer may take, and how often a question that failed is put again. */
export const ANSWER_LIMIT_MS = 20_000;
export const ATTEMPTS_MAX = 3;
/** Each page has at most a thousand entries; a server that pages for ever is left. */
const PAGES_MAX = 500;

/** One question with a time limit; an abort of the caller stays one, everything else becomes words. */
export async function asked<Answer>(
  action: AwsAction,
  region: string,
  signal: AbortSignal,
  ask: (abortSignal: AbortSignal) => Promise<Answer>,
): Promise<Answer> {
  signal.throwIfAborted();
  try {
    return await ask(AbortSignal.any([signal, AbortSignal.timeout(ANSWER_LIMIT_MS * ATTEMPTS_MAX)]));
  } catch (failure) {
    signal.throwIfAborted();
    throw awsFailure(failure, action, region);
  }
}

/** The answer to a question that is given in pages. */
export async function allPages<Page extends { NextToken?: string | undefined }>(
  action: AwsAction,
  region: string,
  signal: AbortSignal,
  ask: (abortSignal: AbortSignal, token: { NextToken?: string }) => Promise<Page>,
): Promise<Page[]> {
  const pages: Page[] = [];
  let token: { NextToken?: string } = {};
  do {
    const from = token;
    const page = await asked(action, region, signal, (abortSignal) => ask(abortSignal, from));
    pages.push(page);
    token = page.NextToken === undefined || page.NextToken === '' ? {} : { NextToken: page.NextToken };
    if (pages.length > PAGES_MAX) {
      throw new OperationError('too-large', `${action} in ${region}: more than ${PAGES_MAX} pages`, {
        hint: 'Name fewer regions: aws: {regions: [us-east-1]}.',
      });
    }
  } while (token.NextToken !== undefined);
  return pages;
}
