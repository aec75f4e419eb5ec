import { expect } from 'vitest'
import { graphql } from './client.ts'
import { rest } from './rest.ts'

/** Submitting a block through each door, and what came back in a form that a test can state. */

/** The serialized form of protocol objects. */
export const binary = 'application/vnd.iota.serializer-v2'

/** A body for REST. */
export type Body = string | Uint8Array

/** Posts a body; JSON when it is a text, unless the headers say otherwise. */
export function post(
  url: string,
  body: Body,
  headers: Record<string, string> = {},
): Promise<Response> {
  const type = typeof body === 'string' ? 'application/json' : binary
  return rest(`${url}/api/core/v3/blocks`, {
    method: 'POST',
    headers: { 'content-type': type, ...headers },
    body: typeof body === 'string' ? body : Uint8Array.from(body),
  })
}

/** The id that a submission was given; anything else fails the test with what was said. */
export async function acceptedId(response: Response): Promise<string> {
  const text = await response.text()
  expect([response.status, text]).toEqual([201, expect.stringContaining('blockId')])
  const { blockId } = JSON.parse(text)
  expect(response.headers.get('location')).toBe(blockId)
  return blockId
}

/** What the specification has the message of a status state (specification 7). */
const stated = new Map([
  [400, /^invalid data: /],
  [403, /not available for public use/],
  [500, /^internal server error/],
  [503, /^service unavailable: /],
])

/** Status and message of a refusal, without the title that a GraphQL error does not have; the code in its body is the status. */
export async function refusal(response: Response): Promise<readonly [number, string]> {
  const { error } = await response.json()
  const isSubmission = new URL(response.url).pathname === '/api/core/v3/blocks'
  const states = isSubmission ? (stated.get(response.status) ?? /^never /) : /./
  expect(error).toEqual({ code: response.status, message: expect.stringMatching(states) })
  return [response.status, error.message.replace(/^(invalid data|service unavailable): /, '')]
}

const submission = /* GraphQL */ `
  mutation ($input: SubmitBlockInput!) { submitBlock(input: $input) { blockId } }
`

/** What GraphQL says of an input: the id, or message and extensions of the one error. */
export async function submit(
  url: string,
  input: object,
  headers: Record<string, string> = {},
): Promise<string | { readonly message: string; readonly [field: string]: unknown }> {
  const { data, errors = [] } = await graphql(url, submission, { input }, headers)
  const [error] = errors
  if (error === undefined) return data.submitBlock.blockId
  expect([errors.length, error.path]).toEqual([1, ['submitBlock']])
  return { message: error.message, ...error.extensions }
}
