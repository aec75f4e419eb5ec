import { type AccountPageData, document } from '../../generated/explorer/account.ts'
import { grouped } from '../format.ts'
import { byId, definePage, type PageViewProps } from '../page.tsx'
import { Amount, Count } from '../parts/amount.tsx'
import { ChainAddressFact, ChainHeading, ChainOutputFacts } from '../parts/chain.tsx'
import { Credits } from '../parts/credits.tsx'
import { Fact, Facts, Section } from '../parts/facts.tsx'
import { History } from '../parts/history.tsx'
import { Id, PlainId } from '../parts/id.tsx'
import { Metadata } from '../parts/metadata.tsx'
import { Epochs, Slot } from '../parts/moments.tsx'
import { State } from '../parts/state.tsx'
import { supplyColumns } from '../parts/supply.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { Time } from '../parts/time.tsx'
import { linkTo } from '../router.ts'
import { chainTexts } from '../texts-chains.ts'

/** The page of an account: its block issuance credits and their cost, its stake, its blocks and its history. */

type Account = NonNullable<AccountPageData['account']>
type Foundry = Account['foundries']['nodes'][number]
type Block = NonNullable<Account['blocks']>['nodes'][number]

const words = chainTexts.accountPage

export const page = definePage({
  document,
  ...byId(words),
  isMissing: ({ account }) => account === null,
  // The cost of a block changes with the traffic, and new blocks of the account may not change the ledger.
  live: () => 'MILESTONES',
  View: AccountPage,
})

function AccountPage({ data, place, failures }: PageViewProps<AccountPageData>) {
  const { account } = data
  if (account === null) return null
  return (
    <>
      <ChainHeading
        title={words.heading}
        id={account.accountId}
        isDestroyed={account.isDestroyed}
      />
      <Issuance
        of={account}
        cost={blockCost(data)}
        isKnown={failures.every(({ path }) => !path.includes('entry'))}
      />
      <Facts>
        <ChainAddressFact of={account.address} />
        <Fact name={chainTexts.owner}>
          {account.lastOutput !== null && <Id of="address" id={account.lastOutput.owner.bech32} />}
        </Fact>
        <Fact name={chainTexts.issuer}>
          {account.issuer !== null && <Id of="address" id={account.issuer.bech32} />}
        </Fact>
        <Stake of={account} />
        <Fact name={words.record}>
          {account.chainRecord !== null && (
            <a href={linkTo('chain', { id: account.chainRecord.chainId })}>
              {words.recordVersion(account.chainRecord.version)}
            </a>
          )}
        </Fact>
        <ChainOutputFacts of={account} />
      </Facts>
      <Keys of={account} />
      {account.foundryCounter > 0 && (
        <Section title={words.foundries}>
          <Table
            caption={words.foundries}
            rows={account.foundries.nodes}
            keyOf={({ tokenId }) => tokenId}
            columns={foundryColumns}
            empty={words.noFoundries}
          />
        </Section>
      )}
      {account.immutableMetadata !== null && (
        <Section title={chainTexts.metadata.title}>
          <Metadata of={account.immutableMetadata.entries} />
        </Section>
      )}
      <Blocks of={account} />
      <History of={account.history} place={place} />
    </>
  )
}

/** Cost of an empty block in the coming slots, in mana. */
function blockCost({ milestone, network }: AccountPageData): bigint | undefined {
  if (milestone === null) return undefined
  const { block } = network.parameters.workScoreParameters
  return BigInt(milestone.commitment.referenceManaCost) * BigInt(block)
}

/** The credits with their sign, and the number of blocks that they cover. */
function Issuance({
  of: { entry },
  cost,
  isKnown,
}: {
  readonly of: Account
  readonly cost: bigint | undefined
  /** Whether the credits are known: nodes do not report them. */
  readonly isKnown: boolean
}) {
  if (entry === null) {
    return <p class="sentence">{isKnown ? words.noEntry : chainTexts.notOffered}</p>
  }
  const credits = BigInt(entry.credits)
  const isDebt = credits < 0n
  return (
    <>
      <p class="balance-total">
        <Credits of={entry.credits} />{' '}
        <span class="muted">{isDebt ? words.debt : words.credits}</span>
      </p>
      {cost !== undefined && (
        <p class="sentence">
          {words.cost(grouped(cost))}
          {cost > 0n && !isDebt && ` ${words.enough(grouped(credits / cost))}`}
        </p>
      )}
    </>
  )
}

function Stake({ of: { entry, staking } }: { readonly of: Account }) {
  return (
    <>
      <Fact name={words.stake}>
        {staking !== null && (
          <>
            <Amount value={staking.stakedAmount} />{' '}
            <span class="muted">
              <Epochs from={staking.startEpoch} to={staking.endEpoch} />
            </span>
          </>
        )}
      </Fact>
      <Fact name={words.delegated}>
        {entry !== null && entry.delegationStake !== '0' && (
          <Amount value={entry.delegationStake} />
        )}
      </Fact>
      <Fact name={words.fixedCost}>
        {staking !== null && (
          <>
            <Count value={staking.fixedCost} /> <span class="unit">{chainTexts.mana}</span>
          </>
        )}
      </Fact>
    </>
  )
}

/** The keys that may sign blocks of the account. If the account has no output yet, they are taken from its ledger entry. */
function Keys({ of: { entry, blockIssuer } }: { readonly of: Account }) {
  const keys = blockIssuer?.blockIssuerKeys.map(({ pubKeyHash }) => pubKeyHash) ?? entry?.keyHashes
  const expirySlot = blockIssuer?.expirySlot ?? entry?.expirySlot
  if (keys === undefined || expirySlot === undefined) return null
  return (
    <Section
      title={words.keys}
      aside={
        <span class="muted">
          {words.until} <Slot index={expirySlot} />
        </span>
      }
    >
      <ul class="keys">
        {keys.map((key) => (
          <li key={key}>
            <PlainId id={key} />
          </li>
        ))}
      </ul>
    </Section>
  )
}

function Blocks({ of: { accountId, blocks } }: { readonly of: Account }) {
  return (
    <Section
      title={words.blocks}
      aside={<a href={linkTo('blocks', {}, { issuer: accountId })}>{words.allBlocks}</a>}
    >
      <Table
        caption={words.blocks}
        rows={blocks?.nodes ?? []}
        keyOf={({ blockId }) => blockId}
        columns={blockColumns}
        empty={blocks === null ? chainTexts.notOffered : words.noBlocks}
        isLive
      />
    </Section>
  )
}

const foundryColumns: readonly Column<Foundry>[] = [
  { head: words.token, cell: ({ tokenId }) => <Id of="token" id={tokenId} /> },
  ...supplyColumns,
]

const blockColumns: readonly Column<Block>[] = [
  { head: words.block, cell: ({ blockId }) => <Id of="block" id={blockId} /> },
  { head: words.issued, cell: ({ issuedAt }) => <Time at={issuedAt} /> },
  { head: words.state, cell: ({ state }) => <State of={state} /> },
  {
    head: words.transaction,
    cell: ({ transaction }) =>
      transaction === null ? '–' : <Id of="transaction" id={transaction.transactionId} />,
  },
]
