import { expect } from 'vitest'
import { type GraphqlAnswer, graphql } from './client.ts'

/**
 * Sends a query twice. Compiled code executes the first request; a weight in `accept` selects the executor of graphql-js for the
 * second. Fails unless both responses are equal.
 */
export async function askBothWays(
  url: string,
  document: string,
  variables: object = {},
): Promise<GraphqlAnswer> {
  const accept = 'application/json'
  const short = await graphql(url, document, variables, { accept })
  const long = await graphql(url, document, variables, { accept: `${accept};q=0.9` })
  // Compares texts, because the order of members is part of a response.
  expect(JSON.stringify(short)).toBe(JSON.stringify(long))
  return long
}
