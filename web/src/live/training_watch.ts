// The curves of trainings that go on while the page is open.
import type { TrainingRun } from '../document/types.ts';

const askEvery = 2000; // milliseconds
const patience = 60000; // without a new point: the training is over, or it writes a long validation

export interface TrainingSource {
  training(): Promise<TrainingRun[]>;
}

const countPoints = (runs: TrainingRun[]) => runs.reduce((sum, run) => sum + run.points.length, 0);

// Asks once at the start; then every two seconds while somebody looks and the curves still grow. A server without
// trainings is not asked again.
export class TrainingWatch {
  private points = -1; // none were asked for yet
  private lastGrowth = 0;
  private going = false; // the server has trainings
  private looking = false;
  private busy = false;

  constructor(
    private readonly source: TrainingSource,
    private readonly looked: () => boolean, // the curves are on the screen
    private readonly grown: (runs: TrainingRun[]) => void,
  ) {}

  async start(): Promise<void> {
    if (!(await this.ask())) return;
    this.going = true;
    setInterval(() => this.tick(), askEvery);
    document.addEventListener('visibilitychange', () => this.changed());
  }

  // To be called when the curves may have come on the screen: then they are asked for at once.
  changed(): void {
    if (this.onScreen() !== this.looking) this.tick();
  }

  private onScreen(): boolean {
    return document.visibilityState === 'visible' && this.looked();
  }

  private tick(): void {
    const looking = this.going && this.onScreen();
    if (looking && !this.looking) this.lastGrowth = performance.now();
    this.looking = looking;
    if (!looking || this.busy || performance.now() - this.lastGrowth > patience) return;
    this.busy = true;
    void this.ask().finally(() => (this.busy = false));
  }

  // Whether the server has trainings. One that does not answer is asked again next time.
  private async ask(): Promise<boolean> {
    const runs = await this.source.training().catch(() => null);
    if (!runs || runs.length === 0) return this.points >= 0;
    const points = countPoints(runs);
    if (points !== this.points) {
      this.points = points;
      this.lastGrowth = performance.now();
      this.grown(runs);
    }
    return true;
  }
}
