import { sharedQuery, useAddress } from '../../address.ts';
import { useAnswer } from '../../ask.ts';
import type { FindingsReply } from '../../../../src/api/routes/findings/list-findings.ts';

/**
 * The list as the address asks for it; a finding's page asks the same, to know its neighbours. The server applies every filter, so that
 * the file and the command have the rows of the page.
 */
export function useFindings() {
  const address = useAddress();
  const { state, detector, category, owner, small } = address.words;
  const query = {
    ...sharedQuery(address),
    state,
    detector,
    category,
    owner,
    small: small === 'yes' ? undefined : 'no',
  };
  const answer = useAnswer<FindingsReply>('/findings', query);
  const reply = answer.data?.data;
  return { answer, query, reply, told: reply?.findings ?? [] };
}
