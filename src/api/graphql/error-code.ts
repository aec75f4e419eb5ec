import { errorStatuses } from '../errors/error-table.ts'
import { enumOf } from './declare.ts'

/** Error codes as an enum, so that clients can enumerate them. */

/** Codes of errors that only GraphQL has. */
const graphqlCodes = {
  BAD_REQUEST: 'The request is not a GraphQL request over HTTP.',
  BAD_USER_INPUT: 'An argument or a variable does not match its type.',
  GRAPHQL_PARSE_FAILED: 'The document is not valid GraphQL.',
  GRAPHQL_VALIDATION_FAILED: 'The document does not match the schema.',
  OPERATION_RESOLUTION_FAILURE: 'The request does not name one of the operations of its document.',
}

/** The GraphQL enum of all values of `extensions.code` of an error. */
export const ErrorCode = enumOf<string>(
  'ErrorCode',
  'The code of an error: a value of extensions.code. The message describes the error and its location in words, and the other members of extensions are its details.',
  {
    ...Object.fromEntries(
      [...errorStatuses].map(([code, status]) => [
        code,
        `The REST status of this error is ${status}.`,
      ]),
    ),
    ...graphqlCodes,
  },
)
