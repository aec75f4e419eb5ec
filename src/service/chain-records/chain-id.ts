import { err, ok, type Result } from '../../lib/result.ts'
import { AccountAddress, AnchorAddress } from '../../protocol/addresses.ts'
import { type Bech32Error, decodeBech32 } from '../../protocol/bech32.ts'

/** The id of a chain: the Bech32 text of the account or anchor that governs it (design 6). */

/** Why a text is not a chain id; `argument` is the name of the text in the request. */
export type ChainIdError =
  | {
      readonly code: 'CHAIN_ID_NOT_BECH32'
      readonly argument: string
      readonly reason: Bech32Error['code']
    }
  | {
      readonly code: 'CHAIN_ID_NOT_A_CHAIN'
      readonly argument: string
      /** The address type in the first byte, if there is one; `length` is the number of bytes. */
      readonly addressType: number | undefined
      readonly length: number
    }

const addressLength = 33

/** Parses a chain id and returns it in lower case. Any human-readable part is accepted, as in the original. */
export function parseChainId(text: string, argument: string): Result<string, ChainIdError> {
  const decoded = decodeBech32(text)
  if (!decoded.ok) return err({ code: 'CHAIN_ID_NOT_BECH32', argument, reason: decoded.error.code })
  const { bytes } = decoded.value
  const [addressType] = bytes
  const isChain = addressType === AccountAddress.code || addressType === AnchorAddress.code
  if (!isChain || bytes.length !== addressLength) {
    return err({ code: 'CHAIN_ID_NOT_A_CHAIN', argument, addressType, length: bytes.length })
  }
  return ok(text.toLowerCase())
}
