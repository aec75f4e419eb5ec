import { type DocumentNode, specifiedRules, type ValidationRule } from 'graphql'
import type { Plugin } from 'graphql-yoga'

/** Validates long documents in parts: all rules together hold the event loop for tens of milliseconds. */

const parts = 4

/** The rules of the specification in groups. A document that is valid by each group is valid. */
export const partsOfRules: readonly ValidationRule[][] = Array.from({ length: parts }, (_, part) =>
  specifiedRules.filter((_rule, i) => i % parts === part),
)

const valid = new WeakSet<DocumentNode>()

/** Remembers that a document is valid by all groups of rules. */
export function noteValid(document: DocumentNode): void {
  valid.add(document)
}

/** Does not validate the documents again that were found valid in parts. */
export const validInParts: Plugin = {
  onValidate({ params: { documentAST }, setResult }) {
    if (valid.has(documentAST)) setResult([])
  },
}
