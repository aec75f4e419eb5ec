import type { AnswerUnreadable, Contradiction } from '../../service/network/health.ts'
import { badRequest, type ErrorRow, later } from './error-row.ts'

/** The rows of the error table about upstream nodes. */

/** The codes of failures of an upstream node. */
type NodeErrorCode =
  | 'REFUSED_BY_NODE'
  | 'NOT_OFFERED_BY_NODES'
  | 'NOT_KEPT_BY_NODE'
  | 'NOT_TOLD_BY_NODE'
  | AnswerUnreadable['code']
  | Contradiction['code']

/** The type requires a row for each code. */
export const nodeErrorRows: { readonly [C in NodeErrorCode]: ErrorRow<C> } = {
  REFUSED_BY_NODE: badRequest((e) => `the node refused the block: ${e.reason}`),
  NOT_OFFERED_BY_NODES: {
    status: 501,
    message: (e) => `this gateway follows an upstream node, which does not offer ${e.what}`,
  },
  NOT_KEPT_BY_NODE: {
    status: 404,
    message: (e) =>
      `the upstream node does not have ${e.what}: it has removed it, or never kept it`,
  },
  NOT_TOLD_BY_NODE: later((e) =>
    e.unreadable === undefined
      ? `the upstream node does not return ${e.what} now`
      : `the response of the upstream node for ${e.what} cannot be read: ${e.unreadable}`,
  ),
  NODE_ANSWER_UNREADABLE: later((e) => {
    const slot = e.slot === undefined ? '' : ` of slot ${e.slot}`
    const output = e.outputId === undefined ? '' : `, output ${e.outputId},`
    return `the response of node ${e.node} to ${e.path}${slot}${output} cannot be read: ${e.reason}`
  }),
  COMMITMENT_OF_ANOTHER_CHAIN: later(
    (e) =>
      `the node has another commitment for slot ${e.slot} or the slot before: ${e.told}, not ${e.expected}`,
  ),
  COMMITMENT_ID_WRONG: later(
    (e) =>
      `the node reports the id ${e.told} for the commitment of slot ${e.slot}, and its computed id is ${e.computed}`,
  ),
  OUTPUT_NOT_NEW: later(
    (e) => `in slot ${e.slot} the node creates the output ${e.outputId} a second time`,
  ),
  OUTPUT_NOT_KNOWN: later(
    (e) => `in slot ${e.slot} the node spends the output ${e.outputId}, which does not exist`,
  ),
  OUTPUT_SPENT_BEFORE: later(
    (e) => `in slot ${e.slot} the node spends the output ${e.outputId} a second time`,
  ),
  OUTPUT_DIFFERS: later(
    (e) => `the node returned two different contents of the output ${e.outputId}`,
  ),
  OUTPUT_PROOF_WRONG: later((e) => `the proof of the output ${e.outputId} does not match its id`),
  OUTPUT_PLACE_WRONG: later(
    (e) => `the node returned the output ${e.outputId} for slot ${e.slot} and for another slot`,
  ),
  BASE_TOKENS_UNBALANCED: later(
    (e) => `in slot ${e.slot} the node creates ${e.created} base tokens and spends ${e.consumed}`,
  ),
}
