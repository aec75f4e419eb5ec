import { errorMeanings } from '../errors/error-meanings.ts'
import { errorStatuses } from '../errors/error-table.ts'
import { enumOf } from './declare.ts'

/** Error codes as an enum, so that clients can enumerate them. */

/** Codes of errors that only GraphQL has. */
const graphqlCodes = {
  BAD_REQUEST: 'The request is not a GraphQL request over HTTP, such as a body without query.',
  BAD_USER_INPUT:
    'An argument or a variable does not match its type, such as an id of a wrong length. The message names it.',
  GRAPHQL_PARSE_FAILED:
    'The document is not valid GraphQL, or has too many tokens. locations has the place.',
  GRAPHQL_VALIDATION_FAILED:
    'The document does not match the schema of this version of the gateway. locations has the place.',
  OPERATION_RESOLUTION_FAILURE:
    'The document has several operations and the request names none of them, or names one that it does not have.',
}

/** The GraphQL enum of all values of `extensions.code` of an error. */
export const ErrorCode = enumOf<string>(
  'ErrorCode',
  'The code of an error: a value of extensions.code. The message describes the error and its location in words, and the other members of extensions are its details. A response of REST has only the status and the message; a code whose description begins with REST occurs only there.',
  {
    ...Object.fromEntries(
      Object.entries(errorMeanings).map(([code, meaning]) => [
        code,
        `${meaning} The REST status is ${errorStatuses.get(code)}.`,
      ]),
    ),
    ...graphqlCodes,
  },
)
