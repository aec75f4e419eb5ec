import { document, type ValidatorsPageData } from '../../generated/explorer/validators.ts'
import { grouped } from '../format.ts'
import { definePage, type PageViewProps } from '../page.tsx'
import { Amount, Count } from '../parts/amount.tsx'
import { Fact, Facts, Section } from '../parts/facts.tsx'
import { Id } from '../parts/id.tsx'
import { IssueStrip } from '../parts/issue-strip.tsx'
import { stripOf } from '../parts/issued-blocks.ts'
import { Epoch, Slot } from '../parts/moments.tsx'
import { nextOf, Paging } from '../parts/paging.tsx'
import { percent } from '../parts/shares.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { afterIn, linkTo } from '../router.ts'
import { chainTexts } from '../texts-chains.ts'

/** The page of an epoch: its committee with blocks and rewards, the next committee, and all validators. */

type ThisEpoch = NonNullable<ValidatorsPageData['epoch']>
type Committee = NonNullable<ThisEpoch['committee']>
type Member = Committee['members'][number]
type Validator = NonNullable<ValidatorsPageData['validators']>['nodes'][number]

const words = chainTexts.validators

export const page = definePage({
  document,
  variables: (place) => ({
    ...(place.parameters.index !== undefined && { index: indexIn(place.parameters.index) }),
    ...afterIn(place),
  }),
  title: ({ parameters }) =>
    parameters.index === undefined ? words.heading : words.epoch(grouped(parameters.index)),
  isMissing: ({ epoch }) => epoch === null,
  target: ({ parameters }) => ({ kind: chainTexts.epoch, id: parameters.index ?? '' }),
  live: () => 'MILESTONES',
  View: ValidatorsPage,
})

/** Parses an epoch index. An invalid text becomes -1, which is refused, and the page shows the error. */
function indexIn(text: string): number {
  return /^[0-9]+$/.test(text) ? Number(text) : -1
}

function ValidatorsPage({ data, place }: PageViewProps<ValidatorsPageData>) {
  const { epoch, validators } = data
  if (epoch === null) return null
  const isNewest = place.parameters.index === undefined
  return (
    <>
      <Heading of={epoch} isNewest={isNewest} />
      <EpochFacts of={epoch} newest={data.newest?.index ?? 0} />
      <Section title={words.committee}>
        <Members of={epoch} data={data} />
      </Section>
      {epoch.nextCommittee !== null && (
        <Section title={words.nextCommittee}>
          <NextMembers of={epoch.nextCommittee} />
        </Section>
      )}
      {isNewest && (
        <Section title={words.all}>
          <Table
            caption={words.all}
            rows={validators?.nodes ?? []}
            keyOf={({ accountId }) => accountId}
            columns={validatorColumns}
            empty={words.none}
            isLive
          />
          <Paging place={place} next={validators && nextOf(validators.pageInfo)} />
        </Section>
      )}
    </>
  )
}

function Heading({ of: epoch, isNewest }: { readonly of: ThisEpoch; readonly isNewest: boolean }) {
  const title = words.epoch(grouped(epoch.index))
  return (
    <div class="heading">
      <h1>{isNewest ? words.heading : title}</h1>
      <nav class="steps" aria-label={words.steps}>
        {epoch.index > 0 ? (
          <a href={linkTo('epoch', { index: String(epoch.index - 1) })}>{words.before}</a>
        ) : (
          <span class="muted">{words.before}</span>
        )}
        {epoch.isOver ? (
          <a href={linkTo('epoch', { index: String(epoch.index + 1) })}>{words.after}</a>
        ) : (
          <span class="muted">{words.after}</span>
        )}
      </nav>
    </div>
  )
}

function EpochFacts({ of: epoch, newest }: { readonly of: ThisEpoch; readonly newest: number }) {
  const { index, firstSlot, lastSlot, isOver, committee } = epoch
  const passed = Math.min(1, Math.max(0, (newest - firstSlot + 1) / (lastSlot - firstSlot + 1)))
  return (
    <Facts>
      <Fact name={chainTexts.epochName}>
        <Epoch index={index} />{' '}
        <span class="muted">{isOver ? words.over : words.passed(percent(passed))}</span>
      </Fact>
      <Fact name={words.begins}>
        <Slot index={firstSlot} />
      </Fact>
      <Fact name={words.ends}>
        <Slot index={lastSlot} />
      </Fact>
      <Fact name={words.totalStake}>
        {committee !== null && <Amount value={committee.totalStake} />}
      </Fact>
      <Fact name={words.validatorStake}>
        {committee !== null && <Amount value={committee.totalValidatorStake} />}
      </Fact>
      <Fact name={words.targetReward}>
        {committee !== null && committee.targetReward !== null && (
          <>
            <Count value={committee.targetReward} /> <span class="unit">{chainTexts.mana}</span>
          </>
        )}
      </Fact>
    </Facts>
  )
}

function Members({
  of: epoch,
  data,
}: {
  readonly of: ThisEpoch
  readonly data: ValidatorsPageData
}) {
  const strip = stripOf(epoch, data)
  const issued: Column<Member> = {
    head: words.issued,
    cell: ({ accountId }) =>
      strip === undefined ? '–' : <IssueStrip of={strip} accountId={accountId} />,
  }
  const reward: Column<Member> = {
    head: words.reward,
    cell: ({ poolReward }) => <Count value={poolReward} />,
    isNumber: true,
  }
  return (
    <Table
      caption={words.committee}
      rows={epoch.committee?.members ?? []}
      keyOf={({ accountId }) => accountId}
      columns={[...memberColumns, ...(epoch.isOver ? [reward] : []), ...(strip ? [issued] : [])]}
      empty={words.noCommittee}
    />
  )
}

function NextMembers({
  of: { members },
}: {
  readonly of: NonNullable<ThisEpoch['nextCommittee']>
}) {
  return (
    <Table
      caption={words.nextCommittee}
      rows={members}
      keyOf={({ accountId }) => accountId}
      columns={seatColumns}
      empty={words.noCommittee}
    />
  )
}

type Seat = Pick<Member, 'accountId' | 'poolStake' | 'validatorStake' | 'fixedCost'>

const seatColumns: readonly Column<Seat>[] = [
  { head: words.validator, cell: ({ accountId }) => <Id of="account" id={accountId} /> },
  {
    head: words.pool,
    cell: ({ poolStake }) => <Amount value={poolStake} isBare />,
    isNumber: true,
  },
  {
    head: words.own,
    cell: ({ validatorStake }) => <Amount value={validatorStake} isBare />,
    isNumber: true,
  },
  { head: words.fixedCost, cell: ({ fixedCost }) => <Count value={fixedCost} />, isNumber: true },
]

const memberColumns: readonly Column<Member>[] = seatColumns

const validatorColumns: readonly Column<Validator>[] = [
  ...seatColumns,
  {
    head: words.delegated,
    cell: ({ delegationStake }) => <Amount value={delegationStake} isBare />,
    isNumber: true,
  },
  {
    head: words.stakesUntil,
    cell: ({ stakeEndEpoch }) =>
      stakeEndEpoch === 0xffffffff ? chainTexts.never : grouped(stakeEndEpoch),
    isNumber: true,
  },
  { head: words.standing, cell: (validator) => <ValidatorStatus of={validator} /> },
]

function ValidatorStatus({ of: { isCandidate, isInCommittee } }: { readonly of: Validator }) {
  return (
    <span>
      {isInCommittee && <span class="state state-done">✓ {words.isMember}</span>}{' '}
      {isCandidate && <span class="state state-pending">◔ {words.isCandidate}</span>}
      {!isInCommittee && !isCandidate && '–'}
    </span>
  )
}
