import type { Access } from '../route.ts';
import type { JsonSchema } from './openapi-schema.ts';

/** One parameter of an operation, as the document has it. */
export interface ApiParameter {
  readonly name: string;
  readonly in: 'query' | 'path';
  readonly required: boolean;
  readonly description?: string;
  readonly schema: JsonSchema;
}

export interface ApiMedia {
  readonly schema?: JsonSchema;
  readonly example?: unknown;
}

export interface ApiHeader {
  readonly description: string;
  readonly schema: JsonSchema;
}

/** One answer of an operation; a problem is named and described once for all. */
export type ApiResponse =
  | { readonly $ref: string }
  | {
      readonly description: string;
      readonly headers?: Readonly<Record<string, ApiHeader>>;
      readonly content?: Readonly<Record<string, ApiMedia>>;
    };

export interface ApiOperation {
  readonly operationId: string;
  readonly summary: string;
  readonly tags: readonly string[];
  readonly parameters: readonly ApiParameter[];
  readonly requestBody?: { readonly required: boolean; readonly content: Readonly<Record<string, ApiMedia>> };
  readonly responses: Readonly<Record<string, ApiResponse>>;
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
  /** Who may ask, as the route declares it: the authorisation matrix of the tests is made of this. */
  readonly 'x-bursar-access': Access;
  /** The words to type for the same figures. */
  readonly 'x-bursar-command'?: string;
}

export type ApiMethod = 'get' | 'post' | 'delete';

export interface ApiDocument {
  readonly openapi: '3.1.0';
  readonly info: {
    readonly title: string;
    readonly version: string;
    readonly description: string;
    readonly license: object;
  };
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Partial<Record<ApiMethod, ApiOperation>>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, JsonSchema>>;
    readonly responses: Readonly<Record<string, ApiResponse>>;
    readonly securitySchemes: Readonly<Record<string, unknown>>;
  };
}
