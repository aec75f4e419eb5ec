import type { DecodePageVariables } from '../../generated/explorer/decode.ts'
import { toolTexts } from '../texts-tools.ts'

/** What a reader pasted: JSON, hexadecimal bytes or Bech32. */

/** What is asked of it, or why nothing can be. */
export type Pasted =
  | { readonly is: 'NOTHING' }
  | { readonly is: 'VALUE'; readonly input: DecodePageVariables['input'] }
  | { readonly is: 'PROBLEM'; readonly sentence: string }

const words = toolTexts.paste

/** Reads a text. */
export function readPasted(pasted: string): Pasted {
  const text = pasted.trim()
  if (text === '') return { is: 'NOTHING' }
  if (/^[{["]/.test(text)) return readJson(text)
  const digits = text.replaceAll(/\s/g, '').replace(/^0x/i, '').toLowerCase()
  if (/^[0-9a-f]+$/.test(digits)) {
    const isOdd = digits.length % 2 === 1
    return isOdd ? problem(words.oddDigits) : { is: 'VALUE', input: { bytes: `0x${digits}` } }
  }
  // What is wrong in a text like an address is for the gateway to say.
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

/** The variables of a page that asks what was pasted; the document needs a value also where there is none. */
export function variablesOf({ fragment }: { readonly fragment: string }): DecodePageVariables {
  const pasted = readPasted(fragment)
  return pasted.is === 'VALUE'
    ? { input: pasted.input, isGiven: true }
    : { input: { bytes: '0x' }, isGiven: false }
}

/** Whether bytes are as long as an id, and of no value: most people who paste them look for what has it. */
export function isLikeId(fragment: string): boolean {
  return /^\s*(0x)?([0-9a-f]{64}|[0-9a-f]{72}|[0-9a-f]{76})\s*$/i.test(fragment)
}
