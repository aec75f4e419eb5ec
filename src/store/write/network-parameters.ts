import type { Network } from '../../generated/prisma/client.ts'
import { present } from '../../lib/assert.ts'
import { ProtocolParameters } from '../../protocol/parameters.ts'
import { decodeStored } from '../../protocol/stored.ts'
import type { RawTx } from '../client.ts'

/** Reads the protocol parameters of the ledger in the database. */
export async function networkParameters(tx: RawTx): Promise<ProtocolParameters> {
  const [network] = await tx.$queryRawUnsafe<Pick<Network, 'parameters'>[]>(
    'SELECT parameters FROM network WHERE id = 1',
  )
  return decodeStored(ProtocolParameters, present(network, 'network').parameters)
}
