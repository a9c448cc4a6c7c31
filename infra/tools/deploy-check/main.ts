import { runCheckCommand } from './command.ts';

process.exitCode = await runCheckCommand(process.argv.slice(2), {
  print: (text) => console.log(text),
  note: (text) => console.error(text),
  async plan(options) {
    const { planDeployment } = await import('./deployment-plan.ts');
    return planDeployment(options);
  },
});
