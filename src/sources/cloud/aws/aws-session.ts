import { OperationError } from '../../../facts/operation-error.ts';
import { ANSWER_LIMIT_MS, ATTEMPTS_MAX } from './aws-ask.ts';
import { credentialFailure } from './aws-failure.ts';

/** Signing in may open a browser's session cache or run a helper program; it does not take longer than this. */
const CREDENTIALS_LIMIT_MS = 10_000;
/** Where no metadata service answers we are not on EC2; a second is long for a neighbour. */
const METADATA_LIMIT_MS = 1_000;
const CONNECT_LIMIT_MS = 4_000;

export interface AwsSessionOptions {
  readonly profile?: string;
  readonly endpoint?: string;
}

/** What a client of one region is made with. */
export type AwsSettings = Awaited<ReturnType<typeof signIn>>;

/**
 * Signs in by the usual chain: environment, profile, single sign-on, the machine's own role.
 *
 * The SDK's time limits do not cover this, so it has its own: a machine that is not on EC2 must not wait for a metadata
 * service that is not there.
 */
export async function signIn({ profile, endpoint }: AwsSessionOptions) {
  // Which Node is good enough is for our own package to say; a warning amid an answer helps nobody.
  process.env['AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED'] ??= 'true';
  const { fromNodeProviderChain } = await import('@aws-sdk/credential-providers');
  const chain = fromNodeProviderChain({
    timeout: METADATA_LIMIT_MS,
    maxRetries: 0,
    ...(profile !== undefined && { profile }),
  });
  const credentials = async () => withinLimit(chain(), profile);
  await credentials();
  return (region: string) => ({
    region,
    credentials,
    maxAttempts: ATTEMPTS_MAX,
    requestHandler: { connectionTimeout: CONNECT_LIMIT_MS, requestTimeout: ANSWER_LIMIT_MS },
    ...(endpoint !== undefined && { endpoint }),
  });
}

async function withinLimit<Identity>(signingIn: Promise<Identity>, profile: string | undefined): Promise<Identity> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      const message = `signing in to AWS took longer than ${CREDENTIALS_LIMIT_MS / 1000} s`;
      reject(new OperationError('no-credentials', message, { hint: 'Try: aws sts get-caller-identity' }));
    }, CREDENTIALS_LIMIT_MS);
  });
  try {
    return await Promise.race([signingIn, late]);
  } catch (failure) {
    throw credentialFailure(failure, profile);
  } finally {
    clearTimeout(timer);
  }
}
