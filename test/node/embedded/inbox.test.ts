import { describe, expect, test } from 'vitest'
import { createInbox } from '../../../src/node/embedded/inbox.ts'
import { databases, useStore } from '../../support/databases.ts'
import { createMemoryLog } from '../../support/memory-log.ts'
import { incomingBlock, testGenesis } from '../../support/store-rows.ts'

describe.each(databases.filter(({ name }) => name === 'sqlite'))('the inbox on $name', (kind) => {
  const use = useStore(kind.create)

  test('logs once that it is full, and once that it is free again', async () => {
    await use.store.write.initialize(use.term, testGenesis())
    const { log, events } = createMemoryLog()
    const inbox = createInbox({ write: use.store.write, onAccepted: () => {}, limit: 2, log })
    const blocks = [1, 2, 3, 4].map((n) => incomingBlock(n, { slot: 1 }))
    const answers = await Promise.all(blocks.map(inbox.accept))
    const full = { ok: false, error: { code: 'INBOX_FULL', waiting: 2 } }
    const accepted = { ok: true, value: 'ACCEPTED' }
    expect(answers).toEqual([accepted, accepted, full, full])
    await inbox.settled()
    const reason = '2 blocks wait to be written, and further blocks are refused'
    expect(events()).toMatchObject([
      { event: 'inbox-full', level: 'warn', reason },
      { event: 'inbox-free', level: 'info' },
    ])
  })
})
