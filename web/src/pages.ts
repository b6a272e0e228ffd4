import type { ComponentType } from 'react';
import { Findings } from './pages/findings/findings.tsx';
import { Fleet } from './pages/fleet/fleet.tsx';
import { JobsPage } from './pages/jobs/jobs-page.tsx';
import { Overview } from './pages/overview/overview.tsx';
import { Sources } from './pages/sources/sources.tsx';
import { Spend } from './pages/spend/spend.tsx';
import { Teams } from './pages/teams/teams.tsx';

export interface PageEntry {
  readonly name: string;
  /** The letter after `g`. */
  readonly letter: string;
  /** The first is where the navigation goes; others are pages of one thing. */
  readonly paths: readonly string[];
  readonly Page: ComponentType;
}

/** In the order of the navigation. */
export const PAGES: readonly PageEntry[] = [
  { name: 'Overview', letter: 'o', paths: ['/overview'], Page: Overview },
  { name: 'Spend', letter: 's', paths: ['/spend'], Page: Spend },
  { name: 'Fleet', letter: 'f', paths: ['/fleet'], Page: Fleet },
  { name: 'Jobs', letter: 'j', paths: ['/jobs', '/jobs/:job'], Page: JobsPage },
  { name: 'Findings', letter: 'i', paths: ['/findings', '/findings/:finding'], Page: Findings },
  { name: 'Teams', letter: 't', paths: ['/teams', '/teams/:team', '/unattributed'], Page: Teams },
  { name: 'Sources', letter: 'r', paths: ['/sources'], Page: Sources },
];
