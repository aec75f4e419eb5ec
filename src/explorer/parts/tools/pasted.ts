import type { DecodePageVariables } from '../../../generated/explorer/decode.ts'
import { toolTexts } from '../../texts-tools.ts'

/** Parses pasted text: JSON, hexadecimal bytes or Bech32. */

/** The input for the gateway, or the problem with the text. */
export type Pasted =
  | { readonly is: 'NOTHING' }
  | { readonly is: 'VALUE'; readonly input: DecodePageVariables['input'] }
  | { readonly is: 'PROBLEM'; readonly sentence: string }

const words = toolTexts.paste

/** Parses a text. */
export function readPasted(pasted: string): Pasted {
  const text = pasted.trim()
  if (text === '') return { is: 'NOTHING' }
  if (/^[{["]/.test(text)) return readJson(text)
  const digits = text.replaceAll(/\s/g, '').replace(/^0x/i, '').toLowerCase()
  if (/^[0-9a-f]+$/.test(digits)) {
    const isOdd = digits.length % 2 === 1
    return isOdd ? problem(words.oddDigits) : { is: 'VALUE', input: { bytes: `0x${digits}` } }
  }
  // The gateway reports errors in a text that looks like an address.
  if (/^[a-z]+1[a-z0-9]+$/i.test(text)) return { is: 'VALUE', input: { bech32: text } }
  return problem(words.unknown)
}

function readJson(text: string): Pasted {
  try {
    return { is: 'VALUE', input: { json: JSON.parse(text) } }
  } catch (failure) {
    return problem(words.notJson(failure instanceof Error ? failure.message : text))
  }
}

function problem(sentence: string): Pasted {
  return { is: 'PROBLEM', sentence }
}

/** The variables of a page that inspects pasted text. The document requires an input even if there is none. */
export function variablesOf({ fragment }: { readonly fragment: string }): DecodePageVariables {
  const pasted = readPasted(fragment)
  return pasted.is === 'VALUE'
    ? { input: pasted.input, isGiven: true }
    : { input: { bytes: '0x' }, isGiven: false }
}

/** Whether bytes have the length of an id. Users who paste an id usually look for the object with this id. */
export function looksLikeId(fragment: string): boolean {
  return /^\s*(0x)?([0-9a-f]{64}|[0-9a-f]{72}|[0-9a-f]{76})\s*$/i.test(fragment)
}
