import { expect } from 'vitest'
import { graphql } from './client.ts'
import { rest } from './rest.ts'

/** Submits blocks by each transport, and converts the responses to values that a test can compare. */

/** The serialized form of protocol objects. */
export const binary = 'application/vnd.iota.serializer-v2'

/** A body for REST. */
export type Body = string | Uint8Array

/** Posts a body, by default a string as JSON and bytes as the binary form. */
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

/** The block id in a successful response; any other response fails the test with its text. */
export async function acceptedId(response: Response): Promise<string> {
  const text = await response.text()
  expect([response.status, text]).toEqual([201, expect.stringContaining('blockId')])
  const { blockId } = JSON.parse(text)
  expect(response.headers.get('location')).toBe(blockId)
  return blockId
}

/** The text that the specification requires in the message of a status (specification 7). */
const requiredTexts = new Map([
  [400, /^invalid data: /],
  [403, /not available for public use/],
  [500, /^internal server error/],
  [503, /^service unavailable: /],
])

/** The status and the message of an error, without the prefix that a GraphQL error does not have. The code in the body is the status. */
export async function refusal(response: Response): Promise<readonly [number, string]> {
  const { error } = await response.json()
  const isSubmission = new URL(response.url).pathname === '/api/core/v3/blocks'
  const required = isSubmission ? (requiredTexts.get(response.status) ?? /^never /) : /./
  expect(error).toEqual({ code: response.status, message: expect.stringMatching(required) })
  return [response.status, error.message.replace(/^(invalid data|service unavailable): /, '')]
}

const submission = /* GraphQL */ `
  mutation ($input: SubmitBlockInput!) { submitBlock(input: $input) { blockId } }
`

/** Submits by GraphQL, and returns the block id, or the message and the extensions of the only error. */
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
