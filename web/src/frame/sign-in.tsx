import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Problem } from '../ask.ts';
import { Banner } from '../parts/banner.tsx';
import { signIn } from './session.ts';

/** Asks for a token where the server wants one. What the address says is shown as soon as it is right. */
export function SignIn() {
  const client = useQueryClient();
  const [token, setToken] = useState('');
  const [problem, setProblem] = useState<Problem | undefined>();
  const [isBusy, setBusy] = useState(false);
  const submit = async (): Promise<void> => {
    setBusy(true);
    setProblem(undefined);
    try {
      await signIn(token.trim());
      await client.resetQueries();
    } catch (failure) {
      setProblem(failure instanceof Problem ? failure : new Problem(0, 'Bursar does not answer.', null));
    } finally {
      setBusy(false);
    }
  };
  return (
    <main id="main" className="sign-in">
      <h1>Bursar</h1>
      <p className="note">
        This server wants a token. It decides what you see, and whether you may decide about findings.
      </p>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void submit();
        }}
      >
        <label className="field">
          Token
          <input
            className="control wide"
            type="password"
            autoComplete="current-password"
            spellCheck={false}
            required
            value={token}
            aria-describedby={problem === undefined ? undefined : 'sign-in-problem'}
            onChange={(event) => setToken(event.target.value)}
          />
        </label>
        <button className="control primary" type="submit" disabled={isBusy}>
          Sign in
        </button>
      </form>
      {problem === undefined ? null : (
        <div id="sign-in-problem" role="alert">
          <Banner kind="bad">{problem.message}</Banner>
          {problem.hint === null ? null : <p className="note">{problem.hint}</p>}
        </div>
      )}
      <p className="note">
        Whoever runs Bursar makes one: <code>bursar token create --name you --role viewer</code>
      </p>
    </main>
  );
}
