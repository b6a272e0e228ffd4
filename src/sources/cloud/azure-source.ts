import type { Source } from '../../facts/source.ts';
import { AZ, readAzList } from './lists/az-list.ts';
import { listSource } from './lists/list-source.ts';
import type { ListSourceOptions } from './lists/list-source.ts';

/** The GPU machines of Azure, from a file that `az vm list -d --output json` wrote. */
export function azureSource(options: ListSourceOptions): Source {
  return listSource('azure', options, AZ, readAzList);
}
