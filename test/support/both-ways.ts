import { expect } from 'vitest'
import { type GraphqlAnswer, graphql } from './client.ts'

/**
 * Asks a gateway twice: once for the compiled answer, and once, by a weight in `accept`, for that of the executor. They must be
 * the same.
 */
export async function askBothWays(
  url: string,
  document: string,
  variables: object = {},
): Promise<GraphqlAnswer> {
  const accept = 'application/json'
  const short = await graphql(url, document, variables, { accept })
  const long = await graphql(url, document, variables, { accept: `${accept};q=0.9` })
  // As texts: the order of members is part of an answer.
  expect(JSON.stringify(short)).toBe(JSON.stringify(long))
  return long
}
