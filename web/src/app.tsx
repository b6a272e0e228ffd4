import type { ReactNode } from 'react';
import { Redirect, Route, Switch } from 'wouter';
import { useAddress } from './address.ts';
import { Frame } from './frame/frame.tsx';
import { useNeedsToken } from './frame/session.ts';
import { SignIn } from './frame/sign-in.tsx';
import { PAGES } from './pages.ts';
import { Boundary } from './parts/boundary.tsx';

/** The address names the page; the page reads the rest of it. */
export function App() {
  const needsToken = useNeedsToken();
  if (needsToken) return <SignIn />;
  return (
    <Frame>
      <Switch>
        {PAGES.flatMap(({ name, paths, Page }) =>
          paths.map((path) => (
            <Route key={path} path={path}>
              <Bounded name={name}>
                <Page />
              </Bounded>
            </Route>
          )),
        )}
        <Route path="/">
          <Redirect to="/overview" replace />
        </Route>
        <Route>
          <main id="main" className="content">
            <h1>No such page</h1>
            <p className="note">The pages are listed on the left.</p>
          </main>
        </Route>
      </Switch>
    </Frame>
  );
}

/** A page that cannot be drawn leaves navigation and keys; another address is another try. */
function Bounded({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  const { path, words } = useAddress();
  return (
    <Boundary what={name} of={`${path} ${JSON.stringify(words)}`} isPage>
      {children}
    </Boundary>
  );
}
