import { Component } from 'react';
import type { ReactNode } from 'react';
import { Banner } from './banner.tsx';

interface BoundaryProps {
  /** What cannot be drawn, as the reader knows it: `Where each dollar went`. */
  readonly what: string;
  /** Another answer or address is another try. */
  readonly of: unknown;
  /** The page's own boundary, which has to bring the heading along. */
  readonly isPage?: boolean;
  readonly children: ReactNode;
}

interface BoundaryState {
  readonly failure: string | undefined;
  readonly of: unknown;
}

/** Promise: what cannot be drawn says so in its own place, and the rest goes on working. React wants a class for it. */
export class Boundary extends Component<BoundaryProps, BoundaryState> {
  override readonly state: BoundaryState = { failure: undefined, of: this.props.of };

  static getDerivedStateFromError(failure: unknown): Partial<BoundaryState> {
    return { failure: failure instanceof Error ? failure.message : String(failure) };
  }

  static getDerivedStateFromProps({ of }: BoundaryProps, state: BoundaryState): BoundaryState | null {
    return Object.is(of, state.of) ? null : { failure: undefined, of };
  }

  override render(): ReactNode {
    const { what, isPage = false, children } = this.props;
    const { failure } = this.state;
    if (failure === undefined) return children;
    const told = (
      <div className="trouble">
        <Banner kind="bad" action={{ words: 'try again', run: () => this.setState({ failure: undefined }) }}>
          {what} cannot be drawn: {failure}
        </Banner>
        <p className="note">
          The figures are not concerned: the same command on the command line has them. Reloading the page may help;
          where it does not, this line is what to report.
        </p>
      </div>
    );
    return isPage ? (
      <main id="main" className="content">
        <h1 className="unseen">{what}</h1>
        {told}
      </main>
    ) : (
      told
    );
  }
}
