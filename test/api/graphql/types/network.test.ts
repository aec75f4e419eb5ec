import { describe, expect, test } from 'vitest'
import { schema } from '../../../../src/api/graphql/schema.ts'
import type { Hex } from '../../../../src/lib/hex.ts'
import { networkOf } from '../../../../src/protocol/network.ts'
import { ProtocolParameters } from '../../../../src/protocol/parameters.ts'
import type { Json } from '../../../../src/protocol/schema/schema.ts'
import type { Services } from '../../../../src/service/services.ts'
import { fullSelection } from '../../../support/full-selection.ts'
import { askSchema } from '../../../support/graphql.ts'
import { parsed } from '../../../support/parsed.ts'
import { plainJson } from '../../../support/plain-json.ts'
import { loadVectors, type Vector } from '../../../support/vectors.ts'

interface ParametersVector extends Vector {
  readonly json: Json
  readonly hash: Hex
  readonly networkId: string
}

const selection = fullSelection(schema, 'ProtocolParameters', 2)

describe('network', () => {
  test.each(loadVectors<ParametersVector>('params'))(
    '$name is returned with all its parameters',
    async ({ json, hash, networkId }) => {
      const network = networkOf(parsed(ProtocolParameters, json))
      const response = await askSchema(
        { source: { network } as Services['source'] },
        `{ network { networkId parametersHash parameters { ...${selection.name} } } }
       ${selection.fragments}`,
      )
      expect(response.errors).toBeUndefined()
      const { parameters, ...rest } = response.data.network
      expect(rest).toEqual({ networkId, parametersHash: hash })
      expect(plainJson(parameters)).toEqual(plainJson(json))
    },
  )
})
