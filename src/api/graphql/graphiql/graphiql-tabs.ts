import { addressText } from '../../../service/addresses/address-text.ts'
import { listAddresses } from '../../../service/lists/list-addresses.ts'
import type { Services } from '../../../service/services.ts'

/** The initial tabs of GraphiQL. Each of them runs without changes on the network of the gateway. */

export interface GraphiqlTab {
  readonly query: string
  /** Variables as JSON. */
  readonly variables: string
}

const hint =
  '# Ledger Gateway. Ctrl+Space completes, Ctrl+Enter runs. The book icon on the left opens the schema.\n'

/** A query without variables, because GraphiQL shows the first tab without its variables. */
const updates = `${hint}query UpdatesPage {
  ledgerUpdates(first: 20) {
    nodes {
      milestoneIndex
      address
      isSpent
      outputId
      output {
        amount
      }
    }
    pageInfo {
      hasNextPage
      endCursor
    }
  }
}
`

const feed = `# Every ledger update of every address, as slots are committed. A feed that resumes after a cursor misses nothing.
subscription Feed($after: String) {
  ledgerUpdates(after: $after) {
    __typename
    ... on FeedOpened {
      cursor
    }
    ... on LedgerUpdateBatch {
      cursor
      updates {
        address
        outputId
        isSpent
        milestoneIndex
      }
    }
  }
}
`

const submission = `# The node builds and signs a block around the payload, if it has an account for that.
mutation SubmitPayload($input: SubmitBlockInput!) {
  submitBlock(input: $input) {
    blockId
    block {
      state
      issuedAt
    }
  }
}
`

const address = `query Address($address: String!) {
  address(address: $address) {
    kind
    balance {
      total
      available
    }
    unspentOutputs(first: 5) {
      nodes {
        outputId
        kind
        amount
      }
    }
    updates(first: 10) {
      nodes {
        milestoneIndex
        isSpent
        outputId
        balance
      }
    }
  }
}
`

const series = `query TimeSeries($resolution: ActivityResolution!) {
  activity(resolution: $resolution) {
    start
    isComplete
    transactionsAccepted
    ledgerUpdates
    baseTokensMoved
    addresses
  }
}
`

const hex = (text: string) => `0x${Buffer.from(text).toString('hex')}`

const payload = { taggedData: { tag: hex('hello'), data: hex('written in GraphiQL') } }

/** Returns the tabs. The tab for an address queries the address with the largest balance. */
export async function graphiqlTabs(services: Services): Promise<readonly GraphiqlTab[]> {
  const tab = (query: string, variables: object) => ({
    query,
    variables: JSON.stringify(variables, null, 2),
  })
  const richest = await listAddresses(services, { first: 1 })
  const [owner] = richest.ok ? richest.value.nodes : []
  const { bech32Hrp } = services.parameters
  return [
    { query: updates, variables: '' },
    tab(feed, {}),
    tab(submission, { input: { payload } }),
    ...(owner === undefined
      ? []
      : [tab(address, { address: addressText(bech32Hrp, owner.address) })]),
    tab(series, { resolution: 'MINUTE' }),
  ]
}
