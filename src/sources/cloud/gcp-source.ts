import type { Source } from '../../facts/source.ts';
import { GCLOUD, readGcloudList } from './lists/gcloud-list.ts';
import { listSource } from './lists/list-source.ts';
import type { ListSourceOptions } from './lists/list-source.ts';

/** The GPU machines of Compute Engine, from a file that `gcloud compute instances list --format=json` wrote. */
export function gcpSource(options: ListSourceOptions): Source {
  return listSource('gcp', options, GCLOUD, readGcloudList);
}
