import { bytesToHex, type Hex } from '../lib/hex.ts'
import { err, type Result } from '../lib/result.ts'
import { blake2b256 } from './hash.ts'
import { networkId } from './ids.ts'
import { ProtocolParameters } from './parameters.ts'
import type { Refusal } from './schema/refusal.ts'
import { encode, parse } from './schema/schema.ts'

/** A network: its parameters and the values derived from them. Created once. */
export interface Network {
  readonly parameters: ProtocolParameters
  readonly id: bigint
  /** The id as the service document computes it, over the name and the version. It denotes the same network. */
  readonly documentedId: bigint
  /** Hash of the serialized parameters. */
  readonly parametersHash: Hex
}

/** Creates the network of some parameters. */
export function networkOf(parameters: ProtocolParameters): Network {
  return {
    parameters,
    id: networkId(parameters.networkName),
    documentedId: networkId(`${parameters.networkName}${parameters.version}`),
    parametersHash: bytesToHex(blake2b256(encode(ProtocolParameters, parameters))),
  }
}

/** Parses parameters to which rules are applied. The rules divide by some of them, which must not be 0. */
export function parseParameters(json: unknown): Result<ProtocolParameters, Refusal> {
  const parameters = parse(ProtocolParameters, json)
  if (!parameters.ok) return parameters
  const zero = divisors.find((name) => parameters.value[name] === 0)
  return zero === undefined ? parameters : err({ code: 'PARAMETER_ZERO', path: zero })
}

const divisors = ['slotDurationInSeconds', 'validationBlocksPerSlot'] as const

/** Whether an id is one of the two ids of the network. */
export function isIdOf(network: Network, id: bigint): boolean {
  return id === network.id || id === network.documentedId
}
