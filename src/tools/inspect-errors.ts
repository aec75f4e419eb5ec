import type { SignatureCheckBusy } from '../node/signatures.ts'
import type { Bech32Error } from '../protocol/bech32.ts'
import type { Problem } from '../protocol/problems.ts'
import { refusalMessage } from '../protocol/refusal-message.ts'
import type { Refusal } from '../protocol/schema/refusal.ts'
import { type KindUnknown, type LineNotJson, lineMessage } from './read-line.ts'

/** Errors of inspections, and their messages. */

export type InspectError =
  | Refusal
  | Problem
  | SignatureCheckBusy
  | (Bech32Error & { readonly path: string })
  | LineNotJson
  | KindUnknown
  | InputMissing

/** The input has none of the members that may hold a value of its kind. */
export interface InputMissing {
  readonly code: 'INPUT_MISSING'
  readonly path: string
  readonly expected: string
}

/** An error as an output line contains it. */
export interface PrintedError {
  readonly code: string
  readonly path: string
  readonly offset?: number
  readonly message: string
  /** The implementation that has the rule, if nodes and the official SDK do not share it. */
  readonly only?: 'node' | 'sdk'
}

/** Prints an error; `subject` names the value that was read. */
export function printError(error: InspectError, subject: string): PrintedError {
  const path = 'path' in error ? error.path : ''
  const offset = 'offset' in error ? { offset: error.offset } : {}
  const only = soleEnforcerOf(error)
  const message = messageOf(error, subject) + (only === 'sdk' ? onlySdk : '')
  return { code: error.code, path, ...offset, message, ...(only === undefined ? {} : { only }) }
}

/** Suffix of the message of a rule that nodes do not have. */
const onlySdk = ' (only the SDK refuses it; nodes accept it)'

function soleEnforcerOf(error: InspectError): 'node' | 'sdk' | undefined {
  return 'of' in error && error.of !== 'form' ? error.of : undefined
}

function messageOf(error: InspectError, subject: string): string {
  switch (error.code) {
    case 'LINE_NOT_JSON':
    case 'KIND_UNKNOWN':
    case 'SIGNATURE_CHECK_BUSY':
      return lineMessage(error)
    case 'INPUT_MISSING':
      return `${error.path} is missing: ${error.expected}`
    case 'BECH32_TOO_LONG':
      return `${error.path} has ${error.length} characters, more than ${error.limit}`
    case 'BECH32_CASE_MIXED':
      return `${error.path} mixes upper and lower case`
    case 'BECH32_SEPARATOR_MISSING':
      return `${error.path} has no separator 1 between its prefix and its data`
    case 'BECH32_CHARACTER_UNKNOWN':
      return `${error.path} has the character ${JSON.stringify(error.character)} at position ${error.at}, which is not a Bech32 character`
    case 'BECH32_CHECKSUM_WRONG':
      return `${error.path} has a wrong checksum`
    case 'BECH32_PADDING_WRONG':
      return `${error.path} has bits after its last byte`
    default:
      return refusalMessage(error, subject)
  }
}
