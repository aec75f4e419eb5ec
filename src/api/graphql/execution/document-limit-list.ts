import type { Limit } from '../../limit.ts'
import type { TransportLimits } from '../../limits.ts'
import { maxAnswerBytes, maxAnswerFields } from './budget.ts'
import {
  maxAliases,
  maxCachedCharacters,
  maxDirectives,
  maxDocumentDepth,
  maxDocumentLines,
  maxDocumentTokens,
  maxMergedFields,
  maxNameCharacters,
  maxNamedCharacters,
  maxVariables,
} from './limits.ts'
import { maxOperationCost } from './prices.ts'

/** Returns the limits of documents and of their operations. */
export function documentLimits({ queryMs }: TransportLimits): readonly Limit[] {
  return [
    ...sizeLimits,
    ...cacheLimits,
    ...costLimits,
    {
      name: 'queryMs',
      value: queryMs,
      unit: 'MILLISECONDS',
      meaning: 'Duration of a query.',
      error: 'QUERY_TOO_LONG',
    },
    ...answerLimits,
  ]
}

const sizeLimits: readonly Limit[] = [
  {
    name: 'documentDepth',
    value: maxDocumentDepth,
    unit: 'COUNT',
    meaning: 'Nesting depth of brackets in a document.',
    error: 'DOCUMENT_TOO_DEEP',
  },
  {
    name: 'documentLines',
    value: maxDocumentLines,
    unit: 'COUNT',
    meaning:
      'Lines of a document. Locating an error takes time proportional to the lines before it.',
    error: 'TOO_MANY_LINES',
  },
  {
    name: 'documentTokens',
    value: maxDocumentTokens,
    unit: 'COUNT',
    meaning: 'Tokens of a document: names, numbers, strings and punctuators.',
  },
  {
    name: 'nameCharacters',
    value: maxNameCharacters,
    unit: 'CHARACTERS',
    meaning: 'Length of a name or an enum value in a document.',
    error: 'NAME_TOO_LONG',
  },
  {
    name: 'aliases',
    value: maxAliases,
    unit: 'COUNT',
    meaning: 'Fields with an alias in a document.',
    error: 'TOO_MANY_ALIASES',
  },
  {
    name: 'directives',
    value: maxDirectives,
    unit: 'COUNT',
    meaning: 'Directives in a document.',
    error: 'TOO_MANY_DIRECTIVES',
  },
  {
    name: 'variables',
    value: maxVariables,
    unit: 'COUNT',
    meaning: 'Variables that a document defines. Their values count towards the request body.',
    error: 'TOO_MANY_VARIABLES',
  },
  {
    name: 'mergedFields',
    value: maxMergedFields,
    unit: 'COUNT',
    meaning:
      'Fields of a document that are merged with fields of the same response name, counted for every place where a fragment is spread.',
  },
]

const cacheLimits: readonly Limit[] = [
  {
    name: 'keptDocumentCharacters',
    value: maxCachedCharacters,
    unit: 'CHARACTERS',
    meaning:
      'Total size of the cached parsed documents. The least recently used are evicted first.',
  },
  {
    name: 'namedDocumentCharacters',
    value: maxNamedCharacters,
    unit: 'CHARACTERS',
    meaning: 'Total size of the cached persisted documents, which requests name by their hashes.',
  },
]

const costLimits: readonly Limit[] = [
  {
    name: 'operationCost',
    value: maxOperationCost,
    unit: 'COST',
    meaning: 'Estimated cost of an operation, assuming that every page is full.',
    error: 'OPERATION_TOO_COSTLY',
  },
  {
    name: 'spentCost',
    value: maxOperationCost,
    unit: 'COST',
    meaning: 'Actual cost of an operation, or of one event of a subscription, while it runs.',
    error: 'OPERATION_COST_EXCEEDED',
  },
]

const answerLimits: readonly Limit[] = [
  {
    name: 'answerBytes',
    value: maxAnswerBytes,
    unit: 'BYTES',
    meaning: 'Size of the response of an operation, or of one event of a subscription, as JSON.',
    error: 'ANSWER_TOO_LARGE',
  },
  {
    name: 'answerFields',
    value: maxAnswerFields,
    unit: 'COUNT',
    meaning: 'Fields in the response of an operation.',
    error: 'ANSWER_TOO_LARGE',
  },
]
