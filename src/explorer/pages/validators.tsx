import { document, type ValidatorsPageData } from '../../generated/explorer/validators.ts'
import { grouped, never } from '../format.ts'
import { type ObjectViewProps, objectPage } from '../page.tsx'
import { Fact, Facts } from '../parts/facts.tsx'
import { IssueStrip } from '../parts/issue-strip.tsx'
import { stripOf } from '../parts/issued-blocks.ts'
import { StepsHeading } from '../parts/steps-heading.tsx'
import { amountColumn, countColumn, idColumn } from '../parts/tables/columns.tsx'
import { nextOf, Paging } from '../parts/tables/paging.tsx'
import type { Column, TableDefinition } from '../parts/tables/table.tsx'
import { TableSection } from '../parts/tables/table-section.tsx'
import { Count } from '../parts/values/amount.tsx'
import { Epoch, firstSlotOf, isBegun, Slot } from '../parts/values/moments.tsx'
import { percent } from '../parts/values/shares.tsx'
import { AmountFact } from '../parts/values/value-facts.tsx'
import { cursorsIn, linkTo } from '../router.ts'
import { indexIn } from '../scalars.ts'
import { chainTexts } from '../texts-chains.ts'

/** The page of an epoch: its committee with blocks and rewards, the next committee, and all validators. */

type ThisEpoch = NonNullable<ValidatorsPageData['epoch']>
type Committee = NonNullable<ThisEpoch['committee']>
type Member = Committee['members'][number]
type Validator = NonNullable<ValidatorsPageData['validators']>['nodes'][number]

const words = chainTexts.validators

export const page = objectPage(document, 'epoch', ValidatorsPage, {
  variables: (place) => ({
    ...(place.parameters.index !== undefined && { index: indexIn(place.parameters.index) }),
    ...cursorsIn(place),
  }),
  title: ({ parameters }) =>
    parameters.index === undefined ? words.heading : words.epoch(grouped(parameters.index)),
  target: ({ parameters }) => ({ kind: chainTexts.epoch, id: parameters.index ?? '' }),
  notYet: ({ parameters }) => {
    const index = Number(parameters.index)
    // An epoch after the last slot never begins.
    const isExpected = !isBegun(index) && firstSlotOf(index) <= never
    return isExpected ? <NotYet index={index} /> : undefined
  },
})

function NotYet({ index }: { readonly index: number }) {
  return (
    <div class="notice">
      <h1>{words.notYet}</h1>
      <p>
        {words.notYetHint(grouped(index))} <Slot index={firstSlotOf(index)} />
      </p>
      <a class="button" href={linkTo('validators')}>
        {words.heading}
      </a>
    </div>
  )
}

function ValidatorsPage({ of: epoch, data, place }: ObjectViewProps<ValidatorsPageData, 'epoch'>) {
  const { validators } = data
  const isNewest = place.parameters.index === undefined
  return (
    <>
      <Heading of={epoch} isNewest={isNewest} />
      <EpochFacts of={epoch} newest={data.newest?.index ?? 0} />
      <TableSection of={memberTable(epoch, data)} rows={epoch.committee?.members} />
      {epoch.nextCommittee !== null && (
        <TableSection of={nextMemberTable} rows={epoch.nextCommittee.members} />
      )}
      {isNewest && (
        <TableSection of={validatorTable} rows={validators?.nodes} isLive>
          <Paging place={place} next={nextOf(validators)} />
        </TableSection>
      )}
    </>
  )
}

function Heading({
  of: { index, isOver },
  isNewest,
}: {
  readonly of: ThisEpoch
  readonly isNewest: boolean
}) {
  return (
    <StepsHeading
      title={isNewest ? words.heading : words.epoch(grouped(index))}
      label={words.steps}
      before={{ label: words.before, to: index > 0 ? linkToEpoch(index - 1) : null }}
      after={{ label: words.after, to: isOver ? linkToEpoch(index + 1) : null }}
    />
  )
}

function linkToEpoch(index: number): string {
  return linkTo('epoch', { index: String(index) })
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
      <AmountFact name={words.totalStake} value={committee?.totalStake} />
      <AmountFact name={words.validatorStake} value={committee?.totalValidatorStake} />
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

/** The members of a committee, with their rewards when the epoch is over, and with their blocks if these are known. */
function memberTable(epoch: ThisEpoch, data: ValidatorsPageData): TableDefinition<Member> {
  const strip = stripOf(epoch, data)
  const reward = countColumn<Member>(words.reward, ({ poolReward }) => poolReward)
  const issued: Column<Member> = {
    head: words.issued,
    cell: ({ accountId }) => strip && <IssueStrip of={strip} accountId={accountId} />,
  }
  return {
    caption: words.committee,
    keyOf: accountIdOf,
    columns: [...seatColumns, ...(epoch.isOver ? [reward] : []), ...(strip ? [issued] : [])],
    empty: words.noCommittee,
  }
}

type Seat = Pick<Member, 'accountId' | 'poolStake' | 'validatorStake' | 'fixedCost'>

function accountIdOf({ accountId }: Seat): string {
  return accountId
}

const seatColumns: readonly Column<Seat>[] = [
  idColumn(words.validator, 'account', accountIdOf),
  amountColumn(words.pool, ({ poolStake }) => poolStake),
  amountColumn(words.own, ({ validatorStake }) => validatorStake),
  countColumn(words.fixedCost, ({ fixedCost }) => fixedCost),
]

const nextMemberTable: TableDefinition<Seat> = {
  caption: words.nextCommittee,
  keyOf: accountIdOf,
  columns: seatColumns,
  empty: words.noCommittee,
}

const validatorTable: TableDefinition<Validator> = {
  caption: words.all,
  keyOf: accountIdOf,
  columns: [
    ...seatColumns,
    amountColumn(words.delegated, ({ delegationStake }) => delegationStake),
    {
      head: words.stakesUntil,
      cell: ({ stakeEndEpoch }) =>
        stakeEndEpoch === never ? chainTexts.never : grouped(stakeEndEpoch),
      isNumber: true,
    },
    { head: words.standing, cell: (validator) => <ValidatorStatus of={validator} /> },
  ],
  empty: words.none,
}

function ValidatorStatus({ of: { isCandidate, isInCommittee } }: { readonly of: Validator }) {
  return (
    <span>
      {isInCommittee && <span class="state state-done">✓ {words.isMember}</span>}{' '}
      {isCandidate && <span class="state state-pending">◔ {words.isCandidate}</span>}
      {!isInCommittee && !isCandidate && '–'}
    </span>
  )
}
