import { type Network, networkOf } from '../../src/protocol/network.ts'
import { ProtocolParameters } from '../../src/protocol/parameters.ts'
import type { Json } from '../../src/protocol/schema/schema.ts'
import { parsed } from './parsed.ts'
import { loadVectors, type Vector } from './vectors.ts'

interface ParameterVector extends Vector {
  readonly json: Json
}

const sets = new Map<string, Json>()
for (const { name, json } of loadVectors<ParameterVector>('params')) {
  sets.set(name.replace('params/', ''), json)
}
for (const { name, kind, json } of loadVectors<ParameterVector>('lifted')) {
  if (kind === 'protocol-parameters') sets.set(name, json)
}

/** The parameter sets of the vectors by name, as JSON. */
export const parameterSets: ReadonlyMap<string, Json> = sets

/** The networks of the parameter sets, by name. */
export const vectorNetworks: ReadonlyMap<string, Network> = new Map(
  [...sets].map(([name, json]) => [name, networkOf(parsed(ProtocolParameters, json))]),
)
