import { OperationError } from '../../../facts/operation-error.ts';

/** What is asked of AWS: nothing here changes anything. docs/sources/aws-policy.json allows exactly these. */
export type AwsAction =
  | 'ec2:DescribeRegions'
  | 'ec2:DescribeInstances'
  | 'ec2:DescribeInstanceTypes'
  | 'cloudwatch:ListMetrics'
  | 'cloudwatch:GetMetricData';

const DENIED = /^(?:UnauthorizedOperation|AccessDenied(?:Exception)?|NotAuthorized|AuthorizationError)$/;
const WRONG_KEY =
  /^(?:AuthFailure|InvalidClientTokenId|SignatureDoesNotMatch|UnrecognizedClientException|IncompleteSignature)$/;
const EXPIRED = /^(?:ExpiredToken(?:Exception)?|RequestExpired|TokenRefreshRequired|InvalidToken)$/;
const THROTTLED = /^(?:Throttling(?:Exception)?|RequestLimitExceeded|TooManyRequestsException)$/;
const NO_ANSWER =
  /^(?:TimeoutError|AbortError|ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|EHOSTUNREACH|ENETUNREACH|EPIPE|ETIMEDOUT)$/;

/** The line of a policy that allows an action. */
export function policyLine(action: AwsAction): string {
  return `{"Effect": "Allow", "Action": "${action}", "Resource": "*"}`;
}

/** What AWS's refusal means to a person, and what to do about it. What it says may hold names of ours, never a secret. */
export function awsFailure(failure: unknown, action: AwsAction, region: string): OperationError {
  if (failure instanceof OperationError) return failure;
  const code = codeOf(failure);
  const at = `${action} in ${region}`;
  const told = (kind: string, message: string, hint: string): OperationError =>
    new OperationError(kind, message, { hint, cause: failure });
  if (DENIED.test(code)) {
    return told('denied', `${at}: not allowed for these credentials`, `Add to their policy: ${policyLine(action)}`);
  }
  if (EXPIRED.test(code)) {
    return told(
      'expired',
      `${at}: the credentials have expired`,
      'Sign in again: aws sso login, or renew the session token.',
    );
  }
  if (WRONG_KEY.test(code)) {
    const hint = 'Try: aws sts get-caller-identity. If that works, the region may not be enabled for the account.';
    return told('bad-credentials', `${at}: the credentials are not accepted (${code})`, hint);
  }
  if (THROTTLED.test(code))
    return told('throttled', `${at}: too many requests`, 'Ask less often: every: 15m in bursar.yaml.');
  if (NO_ANSWER.test(code)) {
    return told(
      'unreachable',
      `${at}: no answer (${code})`,
      'Check the network, a proxy in between, and the name of the region.',
    );
  }
  if (/^(?:SyntaxError|ParserError|DeserializationError)$/.test(code) || isUnreadable(failure)) {
    return told(
      'not-aws',
      `${at}: what answers there does not speak like AWS`,
      'A proxy or a sign-in page may stand in between.',
    );
  }
  return told(
    'aws-failed',
    `${at}: ${code === '' ? 'failed' : code}`,
    'Try the same by hand: aws ec2 describe-instances.',
  );
}

/** Signing in failed, or nobody has: the chain's own words name files and profiles, which helps, and never a key. */
export function credentialFailure(failure: unknown, profile: string | undefined): OperationError {
  if (failure instanceof OperationError) return failure;
  const words = failure instanceof Error ? failure.message.split('\n')[0]?.slice(0, 200) : undefined;
  return new OperationError('no-credentials', `no AWS credentials${words === undefined ? '' : `: ${words}`}`, {
    hint:
      profile === undefined
        ? 'Sign in (aws sso login, aws configure), or name a profile: aws: {profile: NAME}.'
        : `Try: aws sts get-caller-identity --profile ${/^[\w.@-]+$/.test(profile) ? profile : 'NAME'}`,
    cause: failure,
  });
}

function codeOf(failure: unknown): string {
  if (typeof failure !== 'object' || failure === null) return '';
  const code = 'code' in failure && typeof failure.code === 'string' ? failure.code : undefined;
  const name = 'name' in failure && typeof failure.name === 'string' ? failure.name : '';
  return name === '' || name === 'Error' ? (code ?? '') : name;
}

function isUnreadable(failure: unknown): boolean {
  return failure instanceof Error && /deserialization|unexpected token|not valid JSON|XML/i.test(failure.message);
}
