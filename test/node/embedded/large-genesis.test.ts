import { afterEach, describe, expect, test } from 'vitest'
import { databases, type TestDatabase } from '../../support/databases.ts'
import { type GenesisFile, writeGenesis } from '../../support/genesis-gateway.ts'
import { logTables } from '../../support/log-tables.ts'
import { restJson } from '../../support/rest.ts'
import { startGateway } from '../../support/start-gateway.ts'
import { addressOf, offerOf, ownedBy, slotNow, untilCommitted, user } from '../../support/wallet.ts'

/** Tests a genesis with more outputs than a transaction can have. */

/** `LARGE_GENESIS=100000` takes minutes. */
const count = Number(process.env.LARGE_GENESIS ?? 1_000)

describe.each(databases)('on $name', ({ create }) => {
  const created: (TestDatabase | GenesisFile)[] = []
  afterEach(async () => {
    for (const one of created.splice(0)) await one.remove()
  })

  async function database(): Promise<string> {
    const one = await create()
    created.push(one)
    return one.url
  }

  test('a large genesis is loaded, served with proofs, and followed from the genesis and from a snapshot', async () => {
    // The outputs are equal, so that their transactions differ by their number alone.
    const genesis = writeGenesis(Array.from({ length: count }, () => ownedBy(user(1), 1_000_000n)))
    created.push(genesis)
    const node = await startGateway({
      env: { GENESIS_FILE: genesis.path, DATABASE_URL: await database() },
    })
    const balance = await restJson(`${node.url}/api/explorer/v2/balance/${addressOf(user(1))}`)
    expect(balance.totalBalance).toBe(`${count}000000`)
    const offer = await offerOf(node.url)
    await untilCommitted(node.url, slotNow(offer.network))
    const upstreamEnv = async (SNAPSHOT?: string) => ({
      LEDGER: 'upstream',
      UPSTREAM_URLS: node.url,
      DATABASE_URL: await database(),
      ...(SNAPSHOT && { SNAPSHOT }),
    })
    const begun = await startGateway({ env: await upstreamEnv(node.url) })
    const { milestoneIndex } = await restJson(`${node.url}/api/gateway/v1/log`)
    await untilCommitted(begun.url, milestoneIndex)
    const tables = async ({ databaseUrl }: { databaseUrl: string }) => {
      const { unspent_outputs, balances } = await logTables(databaseUrl, 2 ** 31)
      return { unspent_outputs, balances }
    }
    const expected = await tables(node)
    // The account of the issuer, and the rest of the supply.
    expect(expected.unspent_outputs).toHaveLength(count + 2)
    expect(await tables(begun)).toEqual(expected)
    if (count <= 10_000) {
      const whole = await startGateway({ env: await upstreamEnv() })
      expect(await tables(whole)).toEqual(expected)
      await whole.close()
    }
    await begun.close()
    await node.close()
  })
})
