import { type AccountPageData, document } from '../../generated/explorer/account.ts'
import { grouped, never } from '../format.ts'
import { byId, type ObjectViewProps, objectPage } from '../page.tsx'
import { ChainAddressFact, ChainHeading, ChainOutputFacts } from '../parts/chains/chain.tsx'
import { History } from '../parts/chains/history.tsx'
import { MetadataSection } from '../parts/chains/metadata.tsx'
import { supplyColumns } from '../parts/chains/supply.tsx'
import { Fact, Facts, Section } from '../parts/facts.tsx'
import {
  blockTable,
  idTable,
  issuedColumn,
  itsTransactionColumn,
  stateColumn,
} from '../parts/tables/columns.tsx'
import { nextOf, Paging } from '../parts/tables/paging.tsx'
import { TableSection } from '../parts/tables/table-section.tsx'
import { Amount, Count } from '../parts/values/amount.tsx'
import { Credits } from '../parts/values/credits.tsx'
import { PlainId } from '../parts/values/id.tsx'
import { Epochs, Slot } from '../parts/values/moments.tsx'
import { AmountFact, IdFact } from '../parts/values/value-facts.tsx'
import { linkTo } from '../router.ts'
import { chainTexts } from '../texts-chains.ts'

/** The page of an account: its block issuance credits and their cost, its stake, its blocks and its history. */

type Account = NonNullable<AccountPageData['account']>
type Foundry = Account['foundries']['nodes'][number]
type Block = NonNullable<Account['blocks']>['nodes'][number]

const words = chainTexts.accountPage

export const page = objectPage(document, 'account', AccountPage, {
  ...byId(words),
  // The cost of a block changes with the traffic, and new blocks of the account may not change the ledger.
})

function AccountPage({
  of: account,
  data,
  place,
  failures,
}: ObjectViewProps<AccountPageData, 'account'>) {
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
        <IdFact name={chainTexts.owner} of="address" id={account.lastOutput?.owner.bech32} />
        <IdFact name={chainTexts.issuer} of="address" id={account.issuer?.bech32} />
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
        <TableSection of={foundryTable} rows={account.foundries.nodes}>
          <Paging place={place} next={nextOf(account.foundries)} by="foundriesAfter" />
        </TableSection>
      )}
      <MetadataSection of={account.immutableMetadata} />
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
      <AmountFact
        name={words.delegated}
        value={entry?.delegationStake === '0' ? null : entry?.delegationStake}
      />
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
          {expirySlot === never ? (
            words.always
          ) : (
            <>
              {words.until} <Slot index={expirySlot} />
            </>
          )}
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
    <TableSection
      of={blocksTable}
      rows={blocks?.nodes}
      missing={chainTexts.notOffered}
      isLive
      aside={<a href={linkTo('blocks', {}, { issuer: accountId })}>{words.allBlocks}</a>}
    />
  )
}

const foundryTable = idTable<Foundry>(words.token, 'token', ({ tokenId }) => tokenId, {
  caption: words.foundries,
  empty: words.noFoundries,
  columns: [...supplyColumns],
})

const blocksTable = blockTable<Block>({
  caption: words.blocks,
  empty: words.noBlocks,
  columns: [issuedColumn, stateColumn, itsTransactionColumn],
})
