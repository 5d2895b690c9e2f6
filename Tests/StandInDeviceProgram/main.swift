import StandInDevice

Program.run()
