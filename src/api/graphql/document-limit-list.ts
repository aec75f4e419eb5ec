import type { Limit } from '../limit.ts'
import type { TransportLimits } from '../limits.ts'
import { maxAnswerBytes, maxAnswerFields } from './budget.ts'
import {
  maxAliases,
  maxDirectives,
  maxDocumentDepth,
  maxDocumentLines,
  maxDocumentTokens,
  maxKeptCharacters,
  maxMergedFields,
  maxNamedCharacters,
  maxVariables,
} from './limits.ts'
import { maxOperationCost } from './prices.ts'

/** The limits of documents and of the operations that they ask for. */
export const documentLimits = ({ queryMs }: TransportLimits): readonly Limit[] => [
  {
    name: 'documentDepth',
    value: maxDocumentDepth,
    unit: 'COUNT',
    meaning: 'Levels of brackets in a document.',
    error: 'DOCUMENT_TOO_DEEP',
  },
  {
    name: 'documentLines',
    value: maxDocumentLines,
    unit: 'COUNT',
    meaning:
      'Lines of a document: to name the line of an error takes as long as there are lines before it.',
    error: 'TOO_MANY_LINES',
  },
  {
    name: 'documentTokens',
    value: maxDocumentTokens,
    unit: 'COUNT',
    meaning: 'Words, numbers and signs of a document.',
  },
  {
    name: 'aliases',
    value: maxAliases,
    unit: 'COUNT',
    meaning: 'Fields of a document that have an alias.',
    error: 'TOO_MANY_ALIASES',
  },
  {
    name: 'directives',
    value: maxDirectives,
    unit: 'COUNT',
    meaning: 'Directives of a document.',
    error: 'TOO_MANY_DIRECTIVES',
  },
  {
    name: 'variables',
    value: maxVariables,
    unit: 'COUNT',
    meaning: 'Variables that a document defines. Their values are part of the body.',
    error: 'TOO_MANY_VARIABLES',
  },
  {
    name: 'mergedFields',
    value: maxMergedFields,
    unit: 'COUNT',
    meaning:
      'Fields of a document that are compared with others of their names, again at every place of the answer where fragments put them.',
  },
  {
    name: 'keptDocumentCharacters',
    value: maxKeptCharacters,
    unit: 'CHARACTERS',
    meaning: 'All documents together that are kept parsed; the least recently used go first.',
  },
  {
    name: 'namedDocumentCharacters',
    value: maxNamedCharacters,
    unit: 'CHARACTERS',
    meaning: 'All documents together that are kept to be named by their hashes.',
  },
  {
    name: 'operationCost',
    value: maxOperationCost,
    unit: 'COST',
    meaning: 'What an operation may cost if every page is full.',
    error: 'OPERATION_TOO_COSTLY',
  },
  {
    name: 'spentCost',
    value: maxOperationCost,
    unit: 'COST',
    meaning: 'What an operation, or one event of a subscription, may have cost while it runs.',
    error: 'OPERATION_COST_EXCEEDED',
  },
  {
    name: 'queryMs',
    value: queryMs,
    unit: 'MILLISECONDS',
    meaning: 'For which a query may go on.',
    error: 'QUERY_TOO_LONG',
  },
  {
    name: 'answerBytes',
    value: maxAnswerBytes,
    unit: 'BYTES',
    meaning: 'The answer of an operation as JSON, and one event of a subscription.',
    error: 'ANSWER_TOO_LARGE',
  },
  {
    name: 'answerFields',
    value: maxAnswerFields,
    unit: 'COUNT',
    meaning: 'Fields of the answer of an operation.',
    error: 'ANSWER_TOO_LARGE',
  },
]
