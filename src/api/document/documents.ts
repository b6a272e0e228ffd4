import manifest from '../../../package.json' with { type: 'json' };
import { openApiDocument } from './openapi.ts';
import { REFERENCE_STYLE, referencePage } from './reference-page.ts';
import type { Deed, Route } from '../route.ts';
import type { Serves } from '../service.ts';

/** Serves what can be asked here, for programs and to read: the same for everybody, so made once. */
export function mountDocuments(serves: Serves, routes: readonly Route[], deeds: readonly Deed[]): void {
  const document = openApiDocument({ routes, deeds, version: manifest.version });
  const page = referencePage(document);
  serves('getOpenApi', (context) => context.json(document));
  serves('getReference', (context) => context.html(page));
  serves('getReferenceStyle', (context) =>
    context.body(REFERENCE_STYLE, 200, { 'content-type': 'text/css; charset=utf-8' }),
  );
}
