import { useParams } from 'wouter';
import { useSegment } from '../../segment.ts';
import { Job } from './job.tsx';
import { Jobs } from './jobs.tsx';

/** All jobs, or the one the address names. */
export function JobsPage() {
  const isOne = useParams<{ job?: string }>().job !== undefined;
  const id = useSegment(1);
  return isOne ? <Job id={id} /> : <Jobs />;
}
