import { ProtocolParameters } from '../../src/protocol/parameters.ts'
import { parsed } from './parsed.ts'
import { loadVectors, type Vector } from './vectors.ts'

interface ParametersVector extends Vector {
  readonly parameters: unknown
}

const parametersByName = new Map<string, ProtocolParameters>()

/** The parameters that the semantic vectors refer to by a name. */
export function semanticParameters(name: string): ProtocolParameters {
  if (parametersByName.size === 0) {
    for (const vector of loadVectors<ParametersVector>('semantic-params')) {
      parametersByName.set(vector.name, parsed(ProtocolParameters, vector.parameters))
    }
  }
  const parameters = parametersByName.get(name)
  if (parameters === undefined) throw new Error(`no parameters have the name ${name}`)
  return parameters
}
